#pragma once
#include <array>

#include "runtime/kernels/kernel.h"

namespace ingot {

// Pooling over windows. The best variants take float32; the reference every float, and integers for the maximum.
//
//   input       data [N, C, H, W]
//   output      [N, C, OH, OW]; the caller gives OH and OW: (H + top + bottom - dilation * (window - 1) - 1) / stride +
//   1,
//               rounded up or down
//   attributes  mode (0 maximum, 1 average), window [2], strides [2], padding [top, left, bottom, right], dilation [2],
//               count_include_pad (0 or 1)
// A window that reaches beyond bottom or right of the padded input (rounding up) counts only what lies within. One that
// touches no input gives the least value of the dtype, or 0 for an average.
struct Pool2dAttributes {
  bool average, count_include_pad;
  std::array<int64_t, 2> window, strides, dilation;
  std::array<int64_t, 4> padding;
};
Pool2dAttributes pool2d_attributes(const KernelCall& call);

}  // namespace ingot
