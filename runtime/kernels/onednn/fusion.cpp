#include "runtime/kernels/onednn/fusion.h"

#include <algorithm>
#include <array>

#include "runtime/kernels/check.h"
#include "runtime/parallel/thread_team.h"

namespace ingot::onednn {

Desc spatial_desc(const OperandSpec& operand) {
  const bool same_bytes = operand.dims[1] == 1 || (operand.dims[2] == 1 && operand.dims[3] == 1);
  return plain_desc(operand.dims, same_bytes ? Layout::ChannelsLast : operand.layout);
}

Desc dense_desc(const OperandSpec& operand) {
  if (operand.dims.size() == 4) return spatial_desc(operand);
  if (operand.dims.empty()) return plain_desc(std::array<int64_t, 1>{1});
  return plain_desc(operand.dims);
}

std::vector<FusedOp> fuse_post_ops(const Problem& problem, size_t first_input, const Desc& result,
                                   const std::function<Desc(const OperandSpec&)>& describe, bool takes_sum) {
  std::vector<FusedOp> ops;
  bool has_sum = !takes_sum;
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
                     .desc = operand.dims == problem.outputs[0].dims ? result : describe(operand),
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
                  std::vector<Program::Argument> arguments, const View& output,
                  const std::function<View(size_t input)>& describe) {
  const Primitive& primitive = fused.primitive;
  const Program::Slot to = program.output(output);
  const bool direct = primitive.dst == output.desc;
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
      arguments.push_back(
          {DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1, program.in_form(operand, op.desc)});
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

std::unique_ptr<Kernel> make_elementwise(const Problem& problem, const Elementwise& what) {
  const ThreadLimit limit(problem.threads ? problem.threads->size() : 1);
  auto program = std::make_unique<Program>(problem);
  const OperandSpec& data = problem.inputs[0];
  const Desc result = dense_desc(problem.outputs[0]);
  std::vector<FusedOp> ops = what.more;
  const auto post_ops = fuse_post_ops(problem, what.first_input, result, dense_desc, false);
  ops.insert(ops.end(), post_ops.begin(), post_ops.end());
  const bool same = problem.inputs[what.operand].dims == problem.outputs[0].dims;
  const Desc operand_desc = same ? result : what.operand_desc;
  const auto fused = make_fused(ops, [&](std::span<const FusedOp> with) {
    return make_binary(program->device(), what.algorithm, result, operand_desc, result, with);
  });
  if (!fused || fused->primitive.slowness() > 0) return nullptr;
  const auto from = program->in_form(program->input(0, dense_desc(data)), result);
  const auto operand = program->in_form(program->input(what.operand, what.operand_desc), operand_desc);
  append_fused(*program, *fused, ops, {{DNNL_ARG_SRC_0, from}, {DNNL_ARG_SRC_1, operand}}, result, [&](size_t input) {
    for (const FusedOp& op : what.more)
      if (op.input == input) return op.desc;
    return dense_desc(problem.inputs[input]);
  });
  if (dense_desc(data) == result) program->set_in_place_input(0);
  program->set_work(count_elements(data.dims));
  program->finish();
  return program;
}

}  // namespace ingot::onednn
