#pragma once
#include "compiler/driver/compile.h"
#include "vm/tool/tool.h"

// The subcommands that need the compiler, one file each.
namespace ingot::driver {

tool::Tool::Command configure_compile(CLI::App& command, const tool::Sources& sources);
tool::Tool::Command configure_eval(CLI::App& command, const tool::Sources& sources);
tool::Tool::Command configure_opt(CLI::App& command, const tool::Sources& sources);
tool::Tool::Command configure_onnx_test(CLI::App& command, const tool::Sources& sources);

// What is in an ONNX model, on standard output: inputs, outputs, operators with counts, and which are not supported.
void inspect_model(const std::string& path, bool json);

// Sources that compile programs and models on the way; executables and assembly text are read as ever.
tool::Sources compiling_sources();

// `--without` and `--shape`, as CompileOptions.
struct CompileArguments {
  std::vector<std::string> without;
  std::vector<std::string> shapes;

  CompileOptions options() const;  // InvalidArgument for a shape that is not "name:1x3x224x224"
};
void add_compile_arguments(CLI::App& command, CompileArguments& arguments);

// Warnings, on stderr.
void print_warnings(const ir::Diagnostics& diagnostics);

}  // namespace ingot::driver
