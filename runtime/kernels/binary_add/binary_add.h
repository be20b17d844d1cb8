#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// The sum of two tensors of the same shape. The best variants take float32; the reference every number.
//
//   inputs      a, b; then those of post-ops
//   output      the same dimensions
// No attributes. Operands of rank 4 may lie channels-last, in any mixture; the output may lie on a's memory.
void check_binary_add(const Problem& problem);

}  // namespace ingot
