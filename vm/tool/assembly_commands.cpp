#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "vm/executable/text.h"
#include "vm/executable/writer.h"
#include "vm/tool/commands.h"
#include "vm/verifier/verifier.h"

namespace ingot::tool {
namespace {

struct Options {
  std::string file;
  std::string output;
  std::string function;
};

const vm::Function& find_function(const vm::Program& program, const std::string& name) {
  const auto found = std::find_if(program.functions.begin(), program.functions.end(),
                                  [&](const vm::Function& function) { return function.name == name; });
  if (found == program.functions.end()) fail(ErrorCode::InvalidArgument, "there is no function @{}", name);
  return *found;
}

void deliver_text(const std::string& text, const std::string& output) {
  if (output.empty()) {
    print_text(text);
  } else {
    save_file(output, [&](const ByteSink& sink) { sink(std::as_bytes(std::span(text))); });
  }
}

}  // namespace

Tool::Command configure_disasm(CLI::App& command, const Sources& sources) {
  const auto options = std::make_shared<Options>();
  command.add_option("FILE", options->file, "the executable")->required();
  command.add_option("-o", options->output, "the text file; none: standard output");
  command.add_option("--function", options->function, "only this function");
  return [options, &sources] {
    const vm::Program program = sources.program(options->file);
    deliver_text(options->function.empty() ? vm::disassemble(program)
                                           : vm::disassemble(program, find_function(program, options->function)),
                 options->output);
    return 0;
  };
}

Tool::Command configure_asm(CLI::App& command, const Sources&) {
  const auto options = std::make_shared<Options>();
  command.add_option("FILE", options->file, "the text")->required();
  command.add_option("-o", options->output, "the executable")->required();
  return [options] {
    const vm::Program program = assemble_file(options->file);
    try {
      vm::verify(program);
    } catch (Error& error) {
      error.add_context(options->file);
      throw;
    }
    vm::save_program(program, options->output);
    return 0;
  };
}

}  // namespace ingot::tool
