#include "runtime/kernels/matmul/matmul.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/kernels/check.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

// An operand as a matrix in the last two dimensions of a batch.
struct Side {
  std::vector<int64_t> batch, batch_strides;
  int64_t rows, columns, row_stride, column_stride;
};

Side side_of(const OperandSpec& operand, bool transpose, bool vector_is_row, std::string_view name) {
  const std::vector<int64_t>& dims = operand.dims;
  const std::vector<int64_t> strides = strides_of(operand);
  const size_t rank = dims.size();
  if (rank == 0) fail(ErrorCode::ShapeMismatch, "matmul: {} has rank 0, at least 1 is needed", name);
  if (rank == 1) {
    if (vector_is_row) return {{}, {}, 1, dims[0], 0, strides[0]};
    return {{}, {}, dims[0], 1, strides[0], 0};
  }
  const auto last = static_cast<std::ptrdiff_t>(rank - 2);
  Side side{{dims.begin(), dims.begin() + last},
            {strides.begin(), strides.begin() + last},
            dims[rank - 2],
            dims[rank - 1],
            strides[rank - 2],
            strides[rank - 1]};
  if (transpose) {
    std::swap(side.rows, side.columns);
    std::swap(side.row_stride, side.column_stride);
  }
  return side;
}

std::vector<int64_t> spread(const Side& side, size_t rank) {
  std::vector<int64_t> strides(rank, 0);
  const size_t missing = rank - side.batch.size();
  for (size_t d = 0; d < side.batch.size(); ++d)
    if (side.batch[d] != 1) strides[missing + d] = side.batch_strides[d];
  return strides;
}

}  // namespace

MatmulAttributes matmul_attributes(const KernelCall& call) {
  return {.transpose_a = integer_in_range(call, "transpose_a", 0, 0, 1) == 1,
          .transpose_b = integer_in_range(call, "transpose_b", 0, 0, 1) == 1,
          .has_bias = integer_in_range(call, "has_bias", 0, 0, 1) == 1,
          .alpha = call.number("alpha", 1),
          .beta = call.number("beta", 1)};
}

MatmulShape matmul_shape(const Problem& problem) {
  const MatmulAttributes attributes = matmul_attributes(*problem.call);
  const Side a = side_of(problem.inputs[0], attributes.transpose_a, true, "a");
  const Side b = side_of(problem.inputs[1], attributes.transpose_b, false, "b");
  if (a.columns != b.rows)
    fail(ErrorCode::ShapeMismatch, "matmul: inner dimensions differ: a has {}, b has {}", a.columns, b.rows);
  const size_t rank = std::max(a.batch.size(), b.batch.size());
  std::vector<int64_t> batch(rank);
  for (size_t d = 0; d < rank; ++d) {
    const auto dim = [&](const Side& side) {
      const size_t missing = rank - side.batch.size();
      return d < missing ? 1 : side.batch[d - missing];
    };
    if (dim(a) != dim(b) && dim(a) != 1 && dim(b) != 1)
      fail(ErrorCode::ShapeMismatch, "matmul: batch dimensions differ: a has shape {}, b has {}",
           shape_text(problem.inputs[0].dims), shape_text(problem.inputs[1].dims));
    batch[d] = dim(a) == 1 ? dim(b) : dim(a);
  }
  return {.batch = std::move(batch),
          .m = a.rows,
          .n = b.columns,
          .k = a.columns,
          .a_batch = spread(a, rank),
          .b_batch = spread(b, rank),
          .a_row = a.row_stride,
          .a_column = a.column_stride,
          .b_row = b.row_stride,
          .b_column = b.column_stride};
}

void check_matmul(const Problem& problem) {
  const KernelCall& call = *problem.call;
  check_attributes(call, {"transpose_a", "transpose_b", "has_bias", "alpha", "beta"});
  const MatmulAttributes attributes = matmul_attributes(call);
  if (attributes.has_bias)
    check_operands(problem, {"a", "b", "bias"});
  else
    check_operands(problem, {"a", "b"});
  check_dtypes(problem, false);
  if ((attributes.alpha != 1 || attributes.beta != 1) && !is_float(problem.outputs[0].dtype))
    fail(ErrorCode::TypeError, "matmul: alpha {} and beta {} need a float, the result has dtype {}", attributes.alpha,
         attributes.beta, dtype_name(problem.outputs[0].dtype));

  const MatmulShape shape = matmul_shape(problem);
  std::vector<int64_t> expected = shape.batch;
  if (problem.inputs[0].dims.size() > 1) expected.push_back(shape.m);
  if (problem.inputs[1].dims.size() > 1) expected.push_back(shape.n);
  const std::vector<int64_t>& result = problem.outputs[0].dims;
  if (result != expected)
    fail(ErrorCode::ShapeMismatch, "matmul: the result has shape {}, the operands give {}", shape_text(result),
         shape_text(expected));
  if (attributes.has_bias) {
    const std::vector<int64_t>& bias = problem.inputs[2].dims;
    bool fits = bias.size() <= result.size();
    for (size_t d = 0; fits && d < bias.size(); ++d)
      fits = bias[d] == 1 || bias[d] == result[result.size() - bias.size() + d];
    if (!fits)
      fail(ErrorCode::ShapeMismatch, "matmul: bias has shape {}, which does not broadcast to the result's {}",
           shape_text(bias), shape_text(result));
  }
  check_post_op_inputs(problem, attributes.has_bias ? 3 : 2);
}

}  // namespace ingot
