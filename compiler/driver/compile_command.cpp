#include "compiler/driver/bounds.h"
#include "compiler/driver/commands.h"
#include "vm/executable/writer.h"
#include "vm/loader/executable.h"
#include "vm/verifier/verifier.h"

namespace ingot::driver {
namespace {

struct Options {
  std::string file;
  std::string output;
  std::vector<std::string> bounds;
  CompileArguments compile;
};

bool is_source(const std::string& path) { return path.ends_with(".relax") || path.ends_with(".onnx"); }

vm::Program compile_file(const std::string& path, const CompileOptions& options) {
  vm::Program program;
  on_large_stack([&] {
    ir::Diagnostics diagnostics;
    program = compile(path, options, diagnostics);
    print_warnings(diagnostics);
  });
  return program;
}

}  // namespace

tool::Tool::Command configure_compile(CLI::App& command, const tool::Sources&) {
  const auto options = std::make_shared<Options>();
  command.add_option("FILE", options->file, "a program (.relax) or a model (.onnx)")->required();
  command.add_option("-o", options->output, "the executable; none: only check that it compiles");
  add_compile_arguments(command, options->compile);
  command.add_option("--bound", options->bounds, "the most that dimensions of exported functions may be: n=512,m=64")
      ->allow_extra_args(false);
  return [options] {
    const std::vector<DimBound> bounds = parse_bounds(options->bounds);
    vm::Program program = compile_file(options->file, options->compile.options());
    set_bounds(program, bounds);
    vm::verify(program);
    if (!options->output.empty()) vm::save_program(program, options->output);
    return 0;
  };
}

tool::Sources compiling_sources() {
  const tool::Sources plain = tool::executable_sources();
  return {[plain](const std::string& path, const api::LoadOptions& options) {
            if (!is_source(path)) return plain.load(path, options);
            const std::vector<std::byte> bytes = vm::write_program(compile_file(path, {}));
            return api::Executable::load(bytes, options);
          },
          [plain](const std::string& path) { return is_source(path) ? compile_file(path, {}) : plain.program(path); },
          [](const std::string& path, bool json) {
            if (path.ends_with(".onnx")) inspect_model(path, json);
            return path.ends_with(".onnx");
          }};
}

}  // namespace ingot::driver
