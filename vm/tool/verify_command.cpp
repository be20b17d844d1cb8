#include <fmt/format.h>

#include "runtime/base/error.h"
#include "vm/tool/commands.h"
#include "vm/verifier/verifier.h"

namespace ingot::tool {

Tool::Command configure_verify(CLI::App& command, const Sources& sources) {
  const auto file = std::make_shared<std::string>();
  command.add_option("FILE", *file, "the executable")->required();
  return [file, &sources] {
    const vm::Program program = sources.program(*file);
    try {
      vm::verify(program);
    } catch (Error& error) {
      error.add_context(*file);
      throw;
    }
    size_t units = 0;
    for (const vm::Function& function : program.functions) units += function.code.size();
    print_line(fmt::format("{}: {} functions, {} bytes of code, {} constants, {} PrimFuncs: fine", *file,
                           program.functions.size(), units * sizeof(vm::CodeUnit), program.constants.size(),
                           program.prim_funcs.size()));
    return 0;
  };
}

}  // namespace ingot::tool
