#include "compiler/driver/compile.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include "compiler/codegen/codegen.h"
#include "compiler/onnx/import.h"
#include "compiler/text/parser.h"
#include "compiler/transform/pipeline.h"
#include "runtime/base/error.h"

namespace ingot::driver {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail(ErrorCode::Io, "{}: is a directory", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorCode::Io, "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail(ErrorCode::Io, "{}: cannot be read", path.string());
  return text;
}

}  // namespace

ir::Module read_module(const std::filesystem::path& path, const CompileOptions& options, ir::Diagnostics& diagnostics) {
  if (path.extension() == ".onnx") return onnx_import::import_model(path, {options.shapes}, diagnostics);
  auto source = std::make_shared<ir::Source>(ir::Source{path.string(), read_file(path)});
  ir::Module module = text::parse(std::move(source), diagnostics);
  diagnostics.throw_if_errors();
  return module;
}

vm::Program compile(const std::filesystem::path& path, const CompileOptions& options, ir::Diagnostics& diagnostics) {
  transform::PassContext context;
  context.without = options.without;
  ir::Module module = read_module(path, options, context.diagnostics);
  module = transform::lower(std::move(module), context);
  vm::Program program = codegen::generate(module);
  program.metadata = {{"producer", "ingot " INGOT_VERSION}, {"source", path.filename().string()}};
  diagnostics = std::move(context.diagnostics);
  return program;
}

}  // namespace ingot::driver
