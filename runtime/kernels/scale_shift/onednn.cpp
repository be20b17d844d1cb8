#include "runtime/kernels/onednn/fusion.h"
#include "runtime/kernels/scale_shift/scale_shift.h"

namespace ingot {

// oneDNN 2.6 gets some products with channels wrong that have three dimensions.
bool accept_scale_shift_onednn(const Problem& problem) {
  const size_t rank = problem.outputs[0].dims.size();
  return onednn::is_plain_float_problem(problem) && (rank == 2 || rank == 4);
}

std::unique_ptr<Kernel> make_scale_shift_onednn(const Problem& problem) {
  std::vector<int64_t> channel(problem.inputs[0].dims.size(), 1);
  channel[1] = problem.inputs[0].dims[1];
  const onednn::Desc desc = onednn::plain_desc(channel, channel.size() == 4 ? Layout::ChannelsLast : Layout::RowMajor);
  return onednn::make_elementwise(problem, {.algorithm = dnnl::algorithm::binary_mul,
                                            .operand = 1,
                                            .operand_desc = desc,
                                            .more = {{.kind = onednn::FusedOp::Kind::Binary,
                                                      .algorithm = dnnl::algorithm::binary_add,
                                                      .desc = desc,
                                                      .input = 2}},
                                            .first_input = 3});
}

}  // namespace ingot
