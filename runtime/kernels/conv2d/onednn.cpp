#include <algorithm>
#include <array>

#include "runtime/kernels/check.h"
#include "runtime/kernels/conv2d/conv2d.h"
#include "runtime/kernels/onednn/fusion.h"
#include "runtime/kernels/strides.h"
#include "runtime/parallel/thread_team.h"

namespace ingot {
namespace {

using onednn::Desc;
using onednn::Fused;
using onednn::FusedOp;
using onednn::Program;
using onednn::View;

// oneDNN's fastest convolutions make tables in proportion to the output's width, of some kilobytes per column, and lose
// nothing where it is cut into columns of this many. An output as wide as the second bound makes 2,048 cuts.
constexpr int64_t kWidest = 8192;
constexpr int64_t kCut = 2048;
constexpr int64_t kGreatestWidth = kCut << 11;
constexpr int kNone = -1;  // no input may lie where the output does
constexpr int64_t kGreatestExtent = int64_t{1} << 16;

// Columns of the output and what they see of the data.
struct Columns {
  int64_t output, outputs;  // first, count
  int64_t data, datas;      // first, count
  int64_t left, right;      // padding

  bool like(const Columns& other) const {
    return outputs == other.outputs && datas == other.datas && left == other.left && right == other.right;
  }
};

int64_t reach_of(const Conv2dAttributes& attributes, const OperandSpec& weight, size_t d) {
  return attributes.dilation[d] * (weight.dims[2 + d] - 1) + 1;
}

std::vector<Columns> cut(const Problem& problem, const Conv2dAttributes& attributes) {
  const int64_t width = problem.outputs[0].dims[3];
  const int64_t data_width = problem.inputs[0].dims[3];
  const int64_t each = width > kWidest ? kCut : width;
  std::vector<Columns> all;
  for (int64_t first = 0; first < width; first += each) {
    const int64_t count = std::min(each, width - first);
    const int64_t from = first * attributes.strides[1] - attributes.padding[1];
    const int64_t to = from + (count - 1) * attributes.strides[1] + reach_of(attributes, problem.inputs[1], 1);
    const int64_t begin = std::max<int64_t>(0, from);
    const int64_t end = first + count == width ? data_width : std::min(data_width, to);
    all.push_back({.output = first,
                   .outputs = count,
                   .data = begin,
                   .datas = end - begin,
                   .left = begin - from,
                   .right = std::max<int64_t>(0, to - end)});
  }
  return all;
}

std::vector<int64_t> with_width(std::vector<int64_t> dims, int64_t width) {
  dims[3] = width;
  return dims;
}

// Some columns of an operand. Those of a single row lie together, as an operand of its own would.
View columns_of(const OperandSpec& operand, int64_t first, int64_t count) {
  const Desc whole = onednn::spatial_desc(operand);
  if (count == operand.dims[3]) return whole;
  const auto dims = with_width(operand.dims, count);
  const bool channels_last = operand.layout == Layout::ChannelsLast || dims[1] == 1;
  const auto strides = strides_of(operand.dims, channels_last ? Layout::ChannelsLast : Layout::RowMajor);
  const size_t offset = static_cast<size_t>(first * strides[3]) * sizeof(float);
  if (channels_last && dims[0] == 1 && dims[2] == 1) return {onednn::plain_desc(dims, Layout::ChannelsLast), offset};
  return {onednn::strided_desc(dims, strides), offset};
}

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
std::optional<Choice> choose(const onednn::Device& device, const Problem& problem, Conv2dAttributes attributes,
                             std::span<const int64_t> weight_dims, const Columns& columns) {
  const OperandSpec& data = problem.inputs[0];
  const OperandSpec& output = problem.outputs[0];
  attributes.padding[1] = columns.left;
  attributes.padding[3] = columns.right;
  const Desc weights = onednn::any_desc(weight_dims);
  const std::optional<Desc> bias =
      attributes.has_bias ? std::optional(onednn::plain_desc(problem.inputs[2].dims)) : std::nullopt;
  const auto src_dims = with_width(data.dims, columns.datas);
  const auto dst_dims = with_width(output.dims, columns.outputs);
  const Desc any_dst = onednn::any_desc(dst_dims);
  const bool whole = dst_dims == output.dims && src_dims == data.dims;
  const std::array<std::pair<Desc, Desc>, 3> candidates = {{
      {onednn::plain_desc(src_dims, Layout::ChannelsLast), onednn::plain_desc(dst_dims, Layout::ChannelsLast)},
      {onednn::any_desc(src_dims), any_dst},
      {whole ? onednn::spatial_desc(data) : onednn::plain_desc(src_dims),
       whole ? onednn::spatial_desc(output) : onednn::plain_desc(dst_dims)},
  }};
  const auto describe = [&](const OperandSpec& operand) {
    return whole || operand.dims[3] != output.dims[3] ? onednn::spatial_desc(operand)
                                                      : onednn::plain_desc(with_width(operand.dims, columns.outputs));
  };
  std::optional<Choice> best;
  for (const auto& candidate : candidates) {
    const auto& src = candidate.first;
    const auto& dst = candidate.second;
    auto ops = onednn::fuse_post_ops(problem, attributes.has_bias ? 3 : 2, dst, describe);
    // What oneDNN chooses is known too late for operations to be given in its layout.
    auto fused =
        onednn::make_fused(dst == any_dst ? std::span<const FusedOp>() : ops, [&](std::span<const FusedOp> with) {
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

void append(Program& program, const Problem& problem, const Choice& choice, std::span<const int64_t> weight_dims,
            bool has_bias, const Columns& columns) {
  const onednn::Primitive& primitive = choice.fused.primitive;
  const OperandSpec& output = problem.outputs[0];
  const auto data = program.input(0, columns_of(problem.inputs[0], columns.data, columns.datas));
  const auto weights = program.input(1, onednn::plain_desc(weight_dims));
  std::vector<Program::Argument> arguments = {
      {DNNL_ARG_SRC, program.in_form(data, primitive.src)},
      {DNNL_ARG_WEIGHTS, program.in_form(weights, primitive.weights, problem.inputs[1].constant)}};
  if (has_bias) arguments.push_back({DNNL_ARG_BIAS, program.input(2, onednn::plain_desc(problem.inputs[2].dims))});
  onednn::append_fused(program, choice.fused, choice.ops, std::move(arguments),
                       columns_of(output, columns.output, columns.outputs), [&](size_t input) -> View {
                         const OperandSpec& operand = problem.inputs[input];
                         if (operand.dims[3] != output.dims[3]) return onednn::spatial_desc(operand);
                         return columns_of(operand, columns.output, columns.outputs);
                       });
}

}  // namespace

// oneDNN's fastest convolutions do not survive a window that lies in the padding altogether.
bool accept_conv2d_onednn(const Problem& problem) {
  if (!onednn::is_plain_float_problem(problem)) return false;
  const std::vector<int64_t>& dims = problem.outputs[0].dims;
  if (std::max({dims[0], dims[1], dims[2]}) > kGreatestExtent || dims[3] > kGreatestWidth) return false;
  const Conv2dAttributes attributes = conv2d_attributes(*problem.call);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t last = (dims[2 + d] - 1) * attributes.strides[d] - attributes.padding[d];
    if (attributes.padding[d] >= reach_of(attributes, problem.inputs[1], d) || last >= problem.inputs[0].dims[2 + d])
      return false;
  }
  return true;
}

std::unique_ptr<Kernel> make_conv2d_onednn(const Problem& problem) {
  const ThreadLimit limit(problem.threads ? problem.threads->size() : 1);
  Conv2dAttributes attributes = conv2d_attributes(*problem.call);
  const OperandSpec& weight = problem.inputs[1];
  const int64_t bottom = (problem.outputs[0].dims[2] - 1) * attributes.strides[0] - attributes.padding[0] +
                         reach_of(attributes, weight, 0) - problem.inputs[0].dims[2];
  attributes.padding[2] = std::max<int64_t>(0, bottom);
  std::vector<int64_t> weight_dims = weight.dims;
  if (attributes.groups > 1) {
    weight_dims[0] /= attributes.groups;
    weight_dims.insert(weight_dims.begin(), attributes.groups);
  }

  auto program = std::make_unique<Program>(problem);
  std::optional<Choice> choice;
  Columns chosen{};
  std::optional<int> in_place;
  for (const Columns& columns : cut(problem, attributes)) {
    if (!choice || !columns.like(chosen)) {
      choice = choose(program->device(), problem, attributes, weight_dims, columns);
      chosen = columns;
    }
    if (!choice) return nullptr;
    program->reuse_scratch();
    program->set_in_place_input(kNone);
    append(*program, problem, *choice, weight_dims, attributes.has_bias, columns);
    in_place =
        in_place.value_or(program->in_place_input()) == program->in_place_input() ? program->in_place_input() : kNone;
  }
  program->set_in_place_input(in_place.value_or(kNone));
  program->set_work(saturating_product(
      {static_cast<int64_t>(count_elements(problem.outputs[0].dims)), weight.dims[1], weight.dims[2], weight.dims[3]}));
  program->finish();
  return program;
}

}  // namespace ingot
