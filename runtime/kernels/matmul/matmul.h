#pragma once
#include <vector>

#include "runtime/kernels/kernel.h"

namespace ingot {

// Matrix product, batch dimensions broadcast as in NumPy. The best variants take float32; the reference every number
// (alpha and beta other than 1 need floats).
//
//   inputs      a [..., M, K] ([..., K, M] where transpose_a); b [..., K, N] ([..., N, K] where transpose_b); bias,
//               broadcast to the result (it may have a lower rank), where has_bias; then those of post-ops
//   output      [..., M, N]
//   attributes  transpose_a, transpose_b, has_bias (0 or 1); alpha, beta (numbers, default 1):
//               alpha * a b + beta * bias
// As in NumPy, an a of rank 1 is a row and the result has no M; a b of rank 1 is a column and the result has no N; the
// transposes do not concern them.
struct MatmulAttributes {
  bool transpose_a, transpose_b, has_bias;
  double alpha, beta;
};
MatmulAttributes matmul_attributes(const KernelCall& call);

// The problem in plain numbers: one product per index of `batch`; strides in elements, 0 along broadcast dimensions.
struct MatmulShape {
  std::vector<int64_t> batch;
  int64_t m, n, k;
  std::vector<int64_t> a_batch, b_batch;  // strides
  int64_t a_row, a_column, b_row, b_column;
};
// Throws ShapeMismatch where the operands do not fit together.
MatmulShape matmul_shape(const Problem& problem);

}  // namespace ingot
