#include <algorithm>
#include <array>

#include "runtime/kernels/check.h"
#include "runtime/kernels/conv2d/conv2d.h"
#include "runtime/kernels/onednn/fusion.h"
#include "runtime/parallel/thread_team.h"

namespace ingot {
namespace {

using onednn::Desc;
using onednn::Fused;
using onednn::FusedOp;
using onednn::Program;

constexpr int64_t kGreatestExtent = int64_t{1} << 16;

struct Choice {
  Fused fused;
  std::vector<FusedOp> ops;
};

// oneDNN 2.6 gets these wrong where it goes by way of a matrix of patches, with groups and channels-last.
bool has_binary(std::span<const FusedOp> ops) {
  return std::any_of(ops.begin(), ops.end(), [](const FusedOp& op) { return op.kind == FusedOp::Kind::Binary; });
}

// Channels-last first: oneDNN is at its best there, also for odd channel counts and groups, and reorders of data are
// cheap beside its convolutions by way of a matrix of patches, the only ones that it has for row-major data.
std::optional<Choice> choose(const onednn::Device& device, const Problem& problem, const Conv2dAttributes& attributes,
                             std::span<const int64_t> weight_dims) {
  const OperandSpec& data = problem.inputs[0];
  const OperandSpec& output = problem.outputs[0];
  const Desc weights = onednn::any_desc(weight_dims);
  const std::optional<Desc> bias =
      attributes.has_bias ? std::optional(onednn::plain_desc(problem.inputs[2].dims)) : std::nullopt;
  const std::array<std::pair<Desc, Desc>, 3> candidates = {{
      {onednn::plain_desc(data.dims, Layout::ChannelsLast), onednn::plain_desc(output.dims, Layout::ChannelsLast)},
      {onednn::any_desc(data.dims), onednn::any_desc(output.dims)},
      {onednn::spatial_desc(data), onednn::spatial_desc(output)},
  }};
  std::optional<Choice> best;
  for (const auto& candidate : candidates) {
    const auto& src = candidate.first;
    const auto& dst = candidate.second;
    auto ops = onednn::fuse_post_ops(problem, attributes.has_bias ? 3 : 2, dst, onednn::spatial_desc);
    // What oneDNN chooses is known too late for operations to be given in its layout.
    const bool chosen = dst == onednn::any_desc(output.dims);
    auto fused = onednn::make_fused(chosen ? std::span<const FusedOp>() : ops, [&](std::span<const FusedOp> with) {
      auto made = onednn::make_convolution(device, src, weights, bias ? &*bias : nullptr, dst, attributes, with);
      if (made && made->slowness() > 0 && has_binary(with)) made.reset();
      return made;
    });
    if (fused && (!best || fused->primitive.slowness() < best->fused.primitive.slowness()))
      best = Choice{std::move(*fused), std::move(ops)};
    if (best && best->fused.primitive.slowness() == 0) break;
  }
  return best;
}

}  // namespace

// oneDNN's fastest convolutions do not survive a window that lies in the padding altogether, and make a table in
// proportion to the output's width, which takes gigabytes where that is a million.
bool accept_conv2d_onednn(const Problem& problem) {
  if (!onednn::is_plain_float_problem(problem)) return false;
  if (std::ranges::max(problem.outputs[0].dims) > kGreatestExtent) return false;
  const Conv2dAttributes attributes = conv2d_attributes(*problem.call);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = attributes.dilation[d] * (problem.inputs[1].dims[2 + d] - 1) + 1;
    const int64_t last = (problem.outputs[0].dims[2 + d] - 1) * attributes.strides[d] - attributes.padding[d];
    if (attributes.padding[d] >= reach || last >= problem.inputs[0].dims[2 + d]) return false;
  }
  return true;
}

std::unique_ptr<Kernel> make_conv2d_onednn(const Problem& problem) {
  const ThreadLimit limit(problem.threads ? problem.threads->size() : 1);
  Conv2dAttributes attributes = conv2d_attributes(*problem.call);
  const OperandSpec& weight = problem.inputs[1];
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = attributes.dilation[d] * (weight.dims[2 + d] - 1) + 1;
    const int64_t last = (problem.outputs[0].dims[2 + d] - 1) * attributes.strides[d] - attributes.padding[d];
    attributes.padding[2 + d] = std::max<int64_t>(0, last + reach - problem.inputs[0].dims[2 + d]);
  }
  std::vector<int64_t> weight_dims = weight.dims;
  if (attributes.groups > 1) {
    weight_dims[0] /= attributes.groups;
    weight_dims.insert(weight_dims.begin(), attributes.groups);
  }

  auto program = std::make_unique<Program>(problem);
  const auto choice = choose(program->device(), problem, attributes, weight_dims);
  if (!choice) return nullptr;
  const onednn::Primitive& primitive = choice->fused.primitive;
  const auto data = program->input(0, onednn::spatial_desc(problem.inputs[0]));
  const auto weights = program->input(1, onednn::plain_desc(weight_dims));
  std::vector<Program::Argument> arguments = {
      {DNNL_ARG_SRC, program->in_form(data, primitive.src)},
      {DNNL_ARG_WEIGHTS, program->in_form(weights, primitive.weights, weight.constant)}};
  if (attributes.has_bias)
    arguments.push_back({DNNL_ARG_BIAS, program->input(2, onednn::plain_desc(problem.inputs[2].dims))});
  onednn::append_fused(*program, choice->fused, choice->ops, std::move(arguments),
                       onednn::spatial_desc(problem.outputs[0]),
                       [&](size_t input) { return onednn::spatial_desc(problem.inputs[input]); });
  program->set_work(saturating_product(
      {static_cast<int64_t>(count_elements(problem.outputs[0].dims)), weight.dims[1], weight.dims[2], weight.dims[3]}));
  program->finish();
  return program;
}

}  // namespace ingot
