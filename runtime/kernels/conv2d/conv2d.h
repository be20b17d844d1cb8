#pragma once
#include <array>

#include "runtime/kernels/kernel.h"

namespace ingot {

// Convolution (cross-correlation, as in ONNX and Relay). The best variants take float32; the reference every number.
//
//   inputs      data [N, C, H, W]; weight [O, C / groups, KH, KW]; bias [O] where has_bias; then those of post-ops
//   output      [N, O, OH, OW], OH = floor((H + top + bottom - dilation * (KH - 1) - 1) / stride) + 1
//   attributes  strides [2], padding [top, left, bottom, right], dilation [2], groups, has_bias (0 or 1)
// Everything but weight and bias may lie channels-last.
struct Conv2dAttributes {
  std::array<int64_t, 2> strides, dilation;
  std::array<int64_t, 4> padding;
  int64_t groups;
  bool has_bias;
};
Conv2dAttributes conv2d_attributes(const KernelCall& call);

}  // namespace ingot
