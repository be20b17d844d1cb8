#include "compiler/driver/commands.h"
#include "compiler/text/printer.h"

namespace ingot::driver {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> passes;
  bool types = false;
  CompileArguments compile;
};

}  // namespace

tool::Tool::Command configure_opt(CLI::App& command, const tool::Sources&) {
  const auto options = std::make_shared<Options>();
  command.add_option("FILE", options->file, "a program (.relax) or a model (.onnx)")->required();
  command
      .add_option("--passes", options->passes,
                  "the passes to run, in order; those that they need run before them; none: parse and print")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_flag("--types", options->types, "show what was inferred as annotations");
  add_compile_arguments(command, options->compile);
  return [options] {
    std::string text;
    on_large_stack([&] {
      ir::Diagnostics diagnostics;
      const ir::Module module = run_passes(options->file, options->passes, options->compile.options(), diagnostics);
      text = text::print(module, {.most_elements = 0, .types = options->types});
      print_warnings(diagnostics);
    });
    tool::print_text(text);
    return 0;
  };
}

}  // namespace ingot::driver
