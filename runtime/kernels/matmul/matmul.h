#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// Matrix product of float32 (reference: every float and integer dtype), batch dimensions broadcast as in NumPy.
//
//   inputs      a [..., M, K] ([..., K, M] where transpose_a); b [..., K, N] ([..., N, K] where transpose_b); bias,
//   broadcast to the result, where has_bias; then those of post-ops output      [..., M, N] attributes  transpose_a,
//   transpose_b, has_bias (0 or 1); alpha, beta (numbers, default 1): alpha * a b + beta * bias
struct MatmulAttributes {
  bool transpose_a, transpose_b, has_bias;
  double alpha, beta;
};
MatmulAttributes matmul_attributes(const KernelCall& call);

}  // namespace ingot
