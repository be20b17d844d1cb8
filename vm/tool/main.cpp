#include "vm/tool/tool.h"

int main(int argc, char** argv) {
  using namespace ingot::tool;
  Tool tool("ingot-rt", "Runs, measures and inspects Ingot executables.", executable_sources());
  add_runtime_commands(tool);
  return tool.main(argc, argv);
}
