#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// A loop-level function of the program.
//
//   inputs   the function's buffer inputs, row-major, then its scalar parameters, of rank 0
//   outputs  the function's outputs, row-major
// No attributes, no post-ops. The value of an int64 scalar parameter, on which sizes may depend, must be known when the
// kernel is prepared (OperandSpec::constant points to it); others are read at each run.
void check_prim_func(const Problem& problem);

}  // namespace ingot
