#include "runtime/kernels/check.h"
#include "runtime/kernels/lrn/lrn.h"
#include "runtime/kernels/onednn/fusion.h"
#include "runtime/parallel/thread_team.h"

namespace ingot {

bool accept_lrn_onednn(const Problem& problem) {
  return onednn::is_plain_float_problem(problem) && lrn_attributes(*problem.call).size % 2 == 1;
}

std::unique_ptr<Kernel> make_lrn_onednn(const Problem& problem) {
  const ThreadLimit limit(problem.threads ? problem.threads->size() : 1);
  const LrnAttributes attributes = lrn_attributes(*problem.call);
  const OperandSpec& data = problem.inputs[0];
  auto program = std::make_unique<onednn::Program>(problem);
  const auto primitive =
      onednn::make_lrn(program->device(), onednn::plain_desc(data.dims, Layout::ChannelsLast), attributes);
  if (!primitive) return nullptr;
  const auto from = program->in_form(program->input(0, onednn::spatial_desc(data)), primitive->src);
  onednn::append_fused(*program, {*primitive}, {}, {{DNNL_ARG_SRC, from}}, onednn::spatial_desc(problem.outputs[0]),
                       {});
  program->set_work(
      saturating_product({static_cast<int64_t>(count_elements(data.dims)), std::min(attributes.size, data.dims[1])}));
  program->finish();
  return program;
}

}  // namespace ingot
