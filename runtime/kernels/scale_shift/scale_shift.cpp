#include "runtime/kernels/scale_shift/scale_shift.h"

#include "runtime/base/error.h"
#include "runtime/kernels/check.h"

namespace ingot {

bool scale_shift_channels_last(const KernelCall&, size_t operand) { return operand == 0 || operand >= 3; }

void check_scale_shift(const Problem& problem) {
  check_attributes(*problem.call, {});
  check_operands(problem, {"data", "scale", "shift"});
  check_dtypes(problem, false);
  const OperandSpec& data = problem.inputs[0];
  check_same_dims(problem, data, "data", problem.outputs[0], "the result");
  if (data.dims.size() < 2)
    fail(ErrorCode::ShapeMismatch, "scale_shift: data has shape {}, rank 2 or more is needed", shape_text(data.dims));
  for (const size_t i : {1, 2})
    if (problem.inputs[i].dims != std::vector<int64_t>{data.dims[1]})
      fail(ErrorCode::ShapeMismatch, "scale_shift: {} has shape {}, data has {} channels", i == 1 ? "scale" : "shift",
           shape_text(problem.inputs[i].dims), data.dims[1]);
  check_post_op_inputs(problem, 3);
}

}  // namespace ingot
