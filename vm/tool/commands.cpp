#include "vm/tool/commands.h"

namespace ingot::tool {

void add_runtime_commands(Tool& tool) {
  tool.add("run", "run a function and print, write or compare its outputs", configure_run);
  tool.add("bench", "measure loading and running", configure_bench);
  tool.add("profile", "tell which functions, instructions and kernels take how long", configure_profile);
  tool.add("inspect", "tell what an executable holds and needs", configure_inspect);
  tool.add("disasm", "print an executable as text", configure_disasm);
  tool.add("asm", "make an executable from such text", configure_asm);
  tool.add("verify", "check an executable", configure_verify);
}

}  // namespace ingot::tool
