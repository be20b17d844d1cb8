#include "runtime/kernels/lrn/lrn.h"

#include "runtime/kernels/check.h"

namespace ingot {

LrnAttributes lrn_attributes(const KernelCall& call) {
  return {.size = integer_in_range(call, "size", 1, 1, kMaxExtent),
          .alpha = call.number("alpha", 1e-4),
          .beta = call.number("beta", 0.75),
          .bias = call.number("bias", 1)};
}

void check_lrn(const Problem& problem) {
  check_attributes(*problem.call, {"size", "alpha", "beta", "bias"});
  lrn_attributes(*problem.call);
  check_operands(problem, {"data"});
  check_dtypes(problem, true);
  check_spatial(problem, problem.inputs[0], "data");
  check_same_dims(problem, problem.inputs[0], "data", problem.outputs[0], "the result");
}

}  // namespace ingot
