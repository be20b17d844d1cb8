#include "runtime/kernels/softmax/softmax.h"

#include "runtime/base/error.h"
#include "runtime/kernels/check.h"

namespace ingot {

int64_t softmax_axis(const Problem& problem) {
  return integer_in_range(*problem.call, "axis", 0, 0, static_cast<int64_t>(problem.outputs[0].dims.size()) - 1);
}

void check_softmax(const Problem& problem) {
  check_attributes(*problem.call, {"axis"});
  check_operands(problem, {"data"});
  check_dtypes(problem, true);
  check_same_dims(problem, problem.inputs[0], "data", problem.outputs[0], "the result");
  if (problem.inputs[0].dims.empty()) fail(ErrorCode::ShapeMismatch, "softmax: data has rank 0, at least 1 is needed");
  softmax_axis(problem);
}

}  // namespace ingot
