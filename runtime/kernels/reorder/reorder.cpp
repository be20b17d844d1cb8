#include "runtime/kernels/reorder/reorder.h"

#include "runtime/base/error.h"
#include "runtime/kernels/check.h"

namespace ingot {

void check_reorder(const Problem& problem) {
  check_attributes(*problem.call, {});
  check_operands(problem, {"data"});
  check_same_dims(problem, problem.inputs[0], "data", problem.outputs[0], "the result");
  if (problem.inputs[0].dtype != problem.outputs[0].dtype)
    fail(ErrorCode::TypeError, "reorder: data has dtype {}, the result has {}; use cast",
         dtype_name(problem.inputs[0].dtype), dtype_name(problem.outputs[0].dtype));
}

}  // namespace ingot
