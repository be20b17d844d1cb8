#include <algorithm>

#include "runtime/kernels/binary_add/binary_add.h"
#include "runtime/kernels/onednn/fusion.h"

namespace ingot {

// oneDNN 2.6 gets some broadcasts in other ranks wrong.
bool accept_binary_add_onednn(const Problem& problem) {
  const std::vector<int64_t>& dims = problem.outputs[0].dims;
  const bool broadcasts = std::any_of(problem.inputs.begin(), problem.inputs.end(),
                                      [&](const OperandSpec& input) { return input.dims != dims; });
  return onednn::is_plain_float_problem(problem) &&
         (dims.size() == 2 || dims.size() == 4 || (!broadcasts && dims.size() <= 10));
}

std::unique_ptr<Kernel> make_binary_add_onednn(const Problem& problem) {
  return onednn::make_elementwise(problem, {.algorithm = dnnl::algorithm::binary_add,
                                            .operand = 1,
                                            .operand_desc = onednn::dense_desc(problem.inputs[1]),
                                            .more = {},
                                            .first_input = 2});
}

}  // namespace ingot
