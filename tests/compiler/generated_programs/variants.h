#pragma once
#include <string>

#include "tests/compiler/generated_programs/program.h"

namespace ingot::generated {

// What comes of holding a program against the rules that hold for all programs.
struct Verdict {
  bool too_long = false;  // it was given up after many instructions, and nothing is known
  bool failed = false;    // it ended with an error, as it should
  std::string mismatch;   // empty: the program is compiled and run alike in all ways
};

// Parses what is printed, also behind one of the passes, and runs the program in the evaluator and in the VM: with all
// passes, with each optional pass off, with all of them off, and with reference kernels. Values, error codes and logged
// lines must be the same; floats within rtol 1e-4, atol 1e-5. Needs a large stack.
Verdict check(const Program& program);

}  // namespace ingot::generated
