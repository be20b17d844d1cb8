#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// Local response normalisation across channels: x / (bias + alpha / size * sum of squares over `size` channels
// around)^beta. The best variants take float32; the reference every float.
//
//   input       data [N, C, H, W]
//   output      the same shape
//   attributes  size (odd or even; ceil((size - 1) / 2) channels after, the others before), alpha, beta, bias
struct LrnAttributes {
  int64_t size;
  double alpha, beta, bias;
};
LrnAttributes lrn_attributes(const KernelCall& call);

}  // namespace ingot
