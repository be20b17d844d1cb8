#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// A loop-level function of the program.
//
//   inputs   the function's buffer inputs, row-major, then its scalar parameters, of rank 0
//   outputs  the function's outputs, row-major
// No attributes, no post-ops. Where sizes depend on int64 scalar parameters, the values of all of these must be known
// when the kernel is prepared (OperandSpec::constant points to them), and a run with another one fails; otherwise
// scalars are read at each run.
void check_prim_func(const Problem& problem);

// Of the inputs that tir::in_place_inputs names, those that have the dimensions of the output.
std::vector<bool> prim_func_in_place(const Problem& problem, std::vector<bool> in_place_inputs);

}  // namespace ingot
