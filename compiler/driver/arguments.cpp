#include <charconv>
#include <cstdio>

#include "compiler/driver/commands.h"
#include "runtime/base/error.h"

namespace ingot::driver {
namespace {

std::vector<int64_t> parse_dims(std::string_view text, std::string_view whole) {
  std::vector<int64_t> dims;
  const char* at = text.data();
  const char* end = at + text.size();
  while (true) {
    int64_t dim = 0;
    const auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || dim < 0) break;
    dims.push_back(dim);
    if (next == end) return dims;
    if (*next != 'x') break;
    at = next + 1;
  }
  fail(ErrorCode::InvalidArgument, "--shape {}: expected a form like data:1x3x224x224", whole);
}

}  // namespace

void add_compile_arguments(CLI::App& command, CompileArguments& arguments) {
  command.add_option("--without", arguments.without, "optional passes that are not run, or 'all'")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--shape", arguments.shapes, "shape of a model's input: data:1x3x224x224")
      ->allow_extra_args(false);
}

CompileOptions CompileArguments::options() const {
  CompileOptions options;
  options.without.insert(without.begin(), without.end());
  for (const auto& shape : shapes) {
    const size_t colon = shape.rfind(':');
    if (colon == std::string::npos)
      fail(ErrorCode::InvalidArgument, "--shape {}: expected a form like data:1x3x224x224", shape);
    const std::string name = shape.substr(0, colon);
    if (!options.shapes.emplace(name, parse_dims(std::string_view(shape).substr(colon + 1), shape)).second)
      fail(ErrorCode::InvalidArgument, "--shape {}: {} has a shape already", shape, name);
  }
  return options;
}

void print_warnings(const ir::Diagnostics& diagnostics) {
  const std::string text = ir::render(diagnostics.all());
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace ingot::driver
