#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// exp(x - max) / sum of exp(x - max) along a dimension. The best variants take float32; the reference every float.
//
//   input       data, of rank 1 or more
//   output      the same dimensions
//   attributes  axis, 0 to rank - 1
// The output may lie on the input's memory.
int64_t softmax_axis(const Problem& problem);

}  // namespace ingot
