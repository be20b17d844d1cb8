#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// The inputs one behind the other along a dimension, of every dtype.
//
//   inputs      at least one, with the same dimensions but for `axis`
//   output      the same dimensions; along `axis` the sum of theirs
//   attributes  axis, 0 to rank - 1
// Operands of rank 4 may lie channels-last, in any mixture.
int64_t concat_axis(const Problem& problem);

}  // namespace ingot
