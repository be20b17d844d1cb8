#pragma once
#include <vector>

#include "runtime/kernels/matmul/matmul.h"

namespace ingot {

// The dimensions batch..., M, N of the result with the strides of every operand along them, merged as far as all
// operands allow: a batch whose products share b is one product with more rows. Stride 0 where an operand is broadcast.
struct MatmulFrame {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;  // a (0 along N), b (0 along M), then every other input
  std::vector<int64_t> output;
};
MatmulFrame matmul_frame(const Problem& problem, const MatmulShape& shape);

}  // namespace ingot
