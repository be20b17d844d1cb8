#include "runtime/kernels/binary_add/binary_add.h"

#include "runtime/kernels/check.h"

namespace ingot {

void check_binary_add(const Problem& problem) {
  check_attributes(*problem.call, {});
  check_operands(problem, {"a", "b"});
  check_dtypes(problem, false);
  check_same_dims(problem, problem.inputs[0], "a", problem.inputs[1], "b");
  check_same_dims(problem, problem.inputs[0], "a", problem.outputs[0], "the result");
  check_post_op_inputs(problem, 2);
}

}  // namespace ingot
