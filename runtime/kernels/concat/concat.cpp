#include "runtime/kernels/concat/concat.h"

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/kernels/check.h"

namespace ingot {

int64_t concat_axis(const Problem& problem) {
  return integer_in_range(*problem.call, "axis", 0, 0, static_cast<int64_t>(problem.outputs[0].dims.size()) - 1);
}

void check_concat(const Problem& problem) {
  check_attributes(*problem.call, {"axis"});
  if (problem.inputs.empty() || problem.outputs.size() != 1)
    fail(ErrorCode::ArityMismatch, "concat: takes at least one input and has one output, the call has {} and {}",
         problem.inputs.size(), problem.outputs.size());
  const OperandSpec& output = problem.outputs[0];
  if (output.dims.empty()) fail(ErrorCode::ShapeMismatch, "concat: the result has rank 0, at least 1 is needed");
  const auto axis = static_cast<size_t>(concat_axis(problem));
  std::vector<int64_t> expected = output.dims;
  expected[axis] = 0;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const OperandSpec& input = problem.inputs[i];
    if (input.dtype != output.dtype)
      fail(ErrorCode::TypeError, "concat: input {} has dtype {}, the result has {}; use cast", i,
           dtype_name(input.dtype), dtype_name(output.dtype));
    bool fits = input.dims.size() == output.dims.size();
    for (size_t d = 0; fits && d < input.dims.size(); ++d) fits = d == axis || input.dims[d] == output.dims[d];
    if (!fits)
      fail(ErrorCode::ShapeMismatch, "concat: input {} has shape {}, the result has {} along axis {}", i,
           shape_text(input.dims), shape_text(output.dims), axis);
    const auto sum = checked_add(expected[axis], input.dims[axis]);
    if (!sum) fail(ErrorCode::ShapeMismatch, "concat: the dimensions along axis {} overflow", axis);
    expected[axis] = *sum;
  }
  if (expected != output.dims)
    fail(ErrorCode::ShapeMismatch, "concat: the result has shape {}, the inputs give {}", shape_text(output.dims),
         shape_text(expected));
}

}  // namespace ingot
