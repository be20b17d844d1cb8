#include "runtime/kernels/onednn/fusion.h"

#include <algorithm>

namespace ingot::onednn {

Desc spatial_desc(const OperandSpec& operand) {
  const bool same_bytes = operand.dims[1] == 1 || (operand.dims[2] == 1 && operand.dims[3] == 1);
  return plain_desc(operand.dims, same_bytes ? Layout::ChannelsLast : operand.layout);
}

std::vector<FusedOp> fuse_post_ops(const Problem& problem, size_t first_input, const Desc& result,
                                   const std::function<Desc(const OperandSpec&)>& describe) {
  std::vector<FusedOp> ops;
  bool has_sum = false;
  size_t input = first_input;
  for (const PostOp& op : problem.call->post_ops) {
    if (op.kind != PostOpKind::Add) {
      ops.push_back(eltwise_op(op));
      continue;
    }
    const OperandSpec& operand = problem.inputs[input];
    if (!has_sum && operand.dims == problem.outputs[0].dims) {
      has_sum = true;
      ops.push_back({.kind = FusedOp::Kind::Sum, .desc = result, .input = input});
    } else {
      ops.push_back({.kind = FusedOp::Kind::Binary,
                     .algorithm = dnnl::algorithm::binary_add,
                     .desc = describe(operand),
                     .input = input});
    }
    ++input;
  }
  return ops;
}

namespace {

// oneDNN 2.6 mixes up the constants of two elementwise operations of one algorithm.
size_t fusible(std::span<const FusedOp> ops) {
  for (size_t i = 0; i < ops.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (ops[i].kind == FusedOp::Kind::Eltwise && ops[j].kind == FusedOp::Kind::Eltwise &&
          ops[i].algorithm == ops[j].algorithm)
        return i;
  return ops.size();
}

}  // namespace

std::optional<Fused> make_fused(std::span<const FusedOp> ops,
                                const std::function<std::optional<Primitive>(std::span<const FusedOp>)>& make) {
  const size_t count = fusible(ops);
  std::optional<Fused> best;
  if (auto primitive = make(ops.first(count))) best = Fused{std::move(*primitive), count};
  if (count == 0 || (best && best->primitive.slowness() == 0)) return best;
  auto bare = make({});
  if (bare && (!best || bare->slowness() < best->primitive.slowness())) best = Fused{std::move(*bare), 0};
  return best;
}

void append_fused(Program& program, const Fused& fused, std::span<const FusedOp> ops,
                  std::vector<Program::Argument> arguments, const Desc& output,
                  const std::function<Desc(size_t input)>& describe) {
  const Primitive& primitive = fused.primitive;
  const Program::Slot to = program.output(output);
  const bool direct = primitive.dst == output;
  const Program::Slot result = direct ? to : program.scratch(primitive.dst);
  arguments.push_back({DNNL_ARG_DST, result});
  std::vector<Program::Slot> later;
  for (size_t i = 0; i < ops.size(); ++i) {
    const FusedOp& op = ops[i];
    if (op.kind == FusedOp::Kind::Eltwise) continue;
    const Program::Slot operand = program.input(op.input, describe(op.input));
    if (i >= fused.count) {
      later.push_back(operand);
    } else if (op.kind == FusedOp::Kind::Binary) {
      arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1, operand});
    } else if (program.desc(operand) == primitive.dst) {
      program.copy(operand, result);
      if (direct) program.set_in_place_input(static_cast<int>(op.input));
    } else {
      program.reorder(operand, result);
    }
  }
  program.step(primitive, std::move(arguments));
  program.apply(result, ops.subspan(fused.count), later);
  if (!direct) program.reorder(result, to);
  program.set_implementation(fused.count == ops.size() ? primitive.name : primitive.name + ", post-ops apart");
}

}  // namespace ingot::onednn
