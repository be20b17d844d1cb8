#include "compiler/driver/commands.h"

int main(int argc, char** argv) {
  using namespace ingot;
  tool::Tool tool("ingot", "Compiles, runs, measures and inspects deep-learning programs.",
                  driver::compiling_sources());
  tool.add("compile", "make an executable from a program or a model", driver::configure_compile);
  tool.add("eval", "run a program by the tree evaluator, the oracle", driver::configure_eval);
  tool.add("opt", "run passes on a program and print it", driver::configure_opt);
  tool.add("onnx-test", "run ONNX test folders and compare their outputs", driver::configure_onnx_test);
  tool::add_runtime_commands(tool);
  return tool.main(argc, argv);
}
