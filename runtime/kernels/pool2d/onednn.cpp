#include "runtime/kernels/check.h"
#include "runtime/kernels/onednn/fusion.h"
#include "runtime/kernels/pool2d/pool2d.h"
#include "runtime/parallel/thread_team.h"

namespace ingot {

bool accept_pool2d_onednn(const Problem& problem) {
  if (!onednn::is_plain_float_problem(problem)) return false;
  const Pool2dAttributes attributes = pool2d_attributes(*problem.call);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t data = problem.inputs[0].dims[2 + d];
    const int64_t last = (problem.outputs[0].dims[2 + d] - 1) * attributes.strides[d] - attributes.padding[d];
    if (attributes.dilation[d] != 1 && attributes.window[d] != 1) return false;
    if (attributes.padding[d] >= attributes.window[d] || last >= data) return false;
    const bool beyond = last + attributes.window[d] > data + attributes.padding[2 + d];
    if (beyond && attributes.average && attributes.count_include_pad) return false;
  }
  return true;
}

std::unique_ptr<Kernel> make_pool2d_onednn(const Problem& problem) {
  const ThreadLimit limit(problem.threads ? problem.threads->size() : 1);
  Pool2dAttributes attributes = pool2d_attributes(*problem.call);
  const OperandSpec& data = problem.inputs[0];
  const OperandSpec& output = problem.outputs[0];
  attributes.dilation = {1, 1};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t last = (output.dims[2 + d] - 1) * attributes.strides[d] - attributes.padding[d];
    attributes.padding[2 + d] = std::max<int64_t>(0, last + attributes.window[d] - data.dims[2 + d]);
  }

  auto program = std::make_unique<onednn::Program>(problem);
  const auto primitive = onednn::make_pooling(program->device(), onednn::plain_desc(data.dims, Layout::ChannelsLast),
                                              onednn::plain_desc(output.dims, Layout::ChannelsLast), attributes);
  if (!primitive) return nullptr;
  const auto from = program->in_form(program->input(0, onednn::spatial_desc(data)), primitive->src);
  onednn::append_fused(*program, {*primitive}, {}, {{DNNL_ARG_SRC, from}}, onednn::spatial_desc(output), {});
  program->set_work(saturating_product(
      {static_cast<int64_t>(count_elements(output.dims)), attributes.window[0], attributes.window[1]}));
  program->finish();
  return program;
}

}  // namespace ingot
