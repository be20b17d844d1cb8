#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// scale * x + shift, per channel: a batch normalisation with known statistics. The best variants take float32; the
// reference every number.
//
//   inputs      data [N, C, ...]; scale [C]; shift [C]; then those of post-ops
//   output      the same dimensions as data
// No attributes. Everything but scale and shift may lie channels-last; the output may lie on data's memory.
void check_scale_shift(const Problem& problem);

}  // namespace ingot
