#include "runtime/kernels/matmul/frame.h"

#include <algorithm>

#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

std::vector<int64_t> frame_strides(const OperandSpec& operand, const Problem& problem) {
  std::vector<int64_t> strides = broadcast_strides(operand, problem.outputs[0].dims);
  if (problem.inputs[1].dims.size() == 1) strides.push_back(0);
  if (problem.inputs[0].dims.size() == 1) strides.insert(strides.end() - 1, 0);
  return strides;
}

MatmulFrame unsimplified(const Problem& problem, const MatmulShape& shape) {
  MatmulFrame frame;
  frame.dims = shape.batch;
  frame.dims.insert(frame.dims.end(), {shape.m, shape.n});
  auto a = shape.a_batch;
  a.insert(a.end(), {shape.a_row, 0});
  auto b = shape.b_batch;
  b.insert(b.end(), {0, shape.b_column});
  frame.strides = {std::move(a), std::move(b)};
  for (size_t i = 2; i < problem.inputs.size(); ++i) frame.strides.push_back(frame_strides(problem.inputs[i], problem));
  frame.output = frame_strides(problem.outputs[0], problem);
  return frame;
}

void erase(MatmulFrame& frame, size_t d) {
  const auto at = static_cast<std::ptrdiff_t>(d);
  frame.dims.erase(frame.dims.begin() + at);
  for (auto& strides : frame.strides) strides.erase(strides.begin() + at);
  frame.output.erase(frame.output.begin() + at);
}

// Dimension d and d + 1 as one, where every operand steps through both evenly.
bool merge(MatmulFrame& frame, size_t d) {
  const auto even = [&](const std::vector<int64_t>& strides) {
    return strides[d] == strides[d + 1] * frame.dims[d + 1];
  };
  if (!even(frame.output) || !std::all_of(frame.strides.begin(), frame.strides.end(), even)) return false;
  frame.dims[d + 1] *= frame.dims[d];
  erase(frame, d);
  return true;
}

void simplify(MatmulFrame& frame) {
  for (size_t d = frame.dims.size() - 2; d-- > 0;)
    if (frame.dims[d] == 1) erase(frame, d);
  const size_t row = frame.dims.size() - 2;
  if (row > 0 && frame.dims[row] == 1) {
    // A single row: batches that share b are rows.
    const size_t last = row - 1;
    if (frame.strides[1][last] == 0) erase(frame, row);
  }
  for (size_t d = frame.dims.size() - 2; d-- > 0;) merge(frame, d);
}

}  // namespace

MatmulFrame matmul_frame(const Problem& problem, const MatmulShape& shape) {
  MatmulFrame frame = unsimplified(problem, shape);
  simplify(frame);
  return frame;
}

}  // namespace ingot
