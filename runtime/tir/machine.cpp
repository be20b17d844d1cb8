#include "runtime/tir/machine.h"

#include <algorithm>

#include "runtime/base/checked.h"

namespace ingot::tir {
namespace {

constexpr int64_t kPollInterval = int64_t{1} << 20;

class IndexEvaluator {
 public:
  IndexEvaluator(const IndexTree& tree, Frame& frame) : nodes_(tree.nodes.data()), frame_(frame) {}

  bool run(uint32_t id, int64_t& value) {
    const IndexNode& node = nodes_[id];
    int64_t a = 0;
    int64_t b = 0;
    switch (node.op) {
      case PrimOp::Const:
        value = node.value;
        return true;
      case PrimOp::Var:
        value = frame_.vars[node.value];
        return true;
      case PrimOp::And:
      case PrimOp::Or:
        if (!run(node.operands[0], a)) return false;
        value = a != 0;
        if ((a != 0) == (node.op == PrimOp::Or)) return true;
        if (!run(node.operands[1], b)) return false;
        value = b != 0;
        return true;
      case PrimOp::Not:
        if (!run(node.operands[0], a)) return false;
        value = a == 0;
        return true;
      case PrimOp::Select:
        return run(node.operands[0], a) && run(node.operands[a != 0 ? 1 : 2], value);
      default:
        return run(node.operands[0], a) && run(node.operands[1], b) && compute(node.op, a, b, value);
    }
  }

 private:
  bool compute(PrimOp op, int64_t a, int64_t b, int64_t& value) {
    switch (op) {
      case PrimOp::Add:
        return fits(!__builtin_add_overflow(a, b, &value));
      case PrimOp::Sub:
        return fits(!__builtin_sub_overflow(a, b, &value));
      case PrimOp::Mul:
        return fits(!__builtin_mul_overflow(a, b, &value));
      case PrimOp::FloorDiv:
      case PrimOp::FloorMod:
        if (b == 0) return frame_.fault(ErrorCode::DivisionByZero, "an index expression divides by zero");
        if (b == -1) {
          value = 0;
          return op == PrimOp::FloorMod || fits(!__builtin_sub_overflow(int64_t{0}, a, &value));
        }
        value = op == PrimOp::FloorDiv ? floor_div(a, b) : floor_mod(a, b);
        return true;
      case PrimOp::Min:
        value = std::min(a, b);
        return true;
      case PrimOp::Max:
        value = std::max(a, b);
        return true;
      case PrimOp::Equal:
        value = a == b;
        return true;
      case PrimOp::NotEqual:
        value = a != b;
        return true;
      case PrimOp::Less:
        value = a < b;
        return true;
      default:
        value = a <= b;
        return true;
    }
  }

  bool fits(bool holds) {
    return holds || frame_.fault(ErrorCode::ShapeMismatch, "an index expression overflows int64");
  }

  const IndexNode* nodes_;
  Frame& frame_;
};

bool poll(Frame& frame, uint64_t lane_steps) {
  frame.countdown -= static_cast<int64_t>(lane_steps);
  if (frame.countdown > 0) return true;
  frame.countdown = kPollInterval;
  if (frame.poll.poll == nullptr || !frame.poll.poll(frame.poll.context)) return true;
  return frame.fault(ErrorCode::Cancelled, "the run was asked to stop");
}

template <typename T>
const T& detail(const Step& step) {
  return *static_cast<const T*>(step.detail);
}

// Position of the indexed element, or the value where there are no dimensions.
bool lane_value(const LaneIndex& index, Frame& frame, int64_t& value) {
  if (index.dims.empty() && !index.trees.empty()) return evaluate_index(index.trees[0], frame, value);
  value = 0;
  for (size_t d = 0; d < index.dims.size(); ++d) {
    int64_t i = 0;
    if (!evaluate_index(index.trees[d], frame, i)) return false;
    if (i < 0 || i >= index.dims[d])
      return frame.fault(IndexFault{index.buffer, static_cast<uint32_t>(d), i, index.dims[d]});
    value = value * index.dims[d] + i;
  }
  return true;
}

}  // namespace

bool evaluate_index(const IndexTree& tree, Frame& frame, int64_t& value) {
  return IndexEvaluator(tree, frame).run(static_cast<uint32_t>(tree.nodes.size() - 1), value);
}

bool run_linear_index(Frame& frame, const Step& step, Lanes lanes) {
  const auto& position = detail<LinearPosition>(step);
  const int64_t first = position.at_lane_0(frame.vars);
  int64_t* to = frame.lanes<int64_t>(step.dst);
  for (uint32_t i = lanes.begin; i < lanes.end; ++i) to[i] = first + position.stride * static_cast<int64_t>(i);
  return true;
}

bool run_lane_index(Frame& frame, const Step& step, Lanes lanes) {
  const auto& index = detail<LaneIndex>(step);
  int64_t* to = frame.lanes<int64_t>(step.dst);
  const int64_t first = index.has_vector_var ? frame.vars[index.vector_slot] : 0;
  bool ok = true;
  for (uint32_t i = lanes.begin; i < lanes.end && ok; ++i) {
    if (index.has_vector_var) frame.vars[index.vector_slot] = first + static_cast<int64_t>(i);
    for (const auto& source : index.sources) frame.vars[source.slot] = frame.lanes<int64_t>(source.reg)[i];
    ok = lane_value(index, frame, to[i]);
  }
  if (index.has_vector_var) frame.vars[index.vector_slot] = first;
  return ok;
}

bool run_scalar_index(Frame& frame, const Step& step, Lanes) {
  return evaluate_index(detail<IndexTree>(step), frame, frame.vars[step.dst]);
}

bool run_bind_index(Frame& frame, const Step& step, Lanes lanes) {
  frame.vars[step.dst] = frame.lanes<int64_t>(step.a)[lanes.begin];
  return true;
}

bool run_scalar_loop(Frame& frame, const Step& step, Lanes lanes) {
  const auto& loop = detail<LoopDetail>(step);
  int64_t extent = 0;
  if (!evaluate_index(loop.extent, frame, extent)) return false;
  const uint64_t cost = uint64_t{loop.body.cost} * (lanes.end - lanes.begin);
  for (int64_t i = 0; i < extent; ++i) {
    frame.vars[loop.slot] = i;
    if (!run_block(loop.body, frame, lanes) || !poll(frame, cost)) return false;
  }
  return true;
}

bool run_vector_loop(Frame& frame, const Step& step, Lanes) {
  const auto& loop = detail<LoopDetail>(step);
  int64_t extent = 0;
  if (!evaluate_index(loop.extent, frame, extent)) return false;
  if (extent <= 0) return true;
  frame.fill = static_cast<uint32_t>(std::min<int64_t>(extent, kLanes));
  frame.vars[loop.slot] = 0;
  if (!run_block(loop.before, frame, {0, 1})) return false;
  for (int64_t i = 0; i < extent; i += kLanes) {
    frame.vars[loop.slot] = i;
    const auto count = static_cast<uint32_t>(std::min<int64_t>(extent - i, kLanes));
    if (!run_block(loop.body, frame, {0, count}) || !poll(frame, uint64_t{loop.body.cost} * count)) return false;
  }
  return true;
}

bool run_branch(Frame& frame, const Step& step, Lanes lanes) {
  const auto& branch = detail<BranchDetail>(step);
  const bool* condition = frame.lanes<bool>(step.a);
  for (uint32_t begin = lanes.begin; begin < lanes.end;) {
    uint32_t end = begin + 1;
    while (end < lanes.end && condition[end] == condition[begin]) ++end;
    if (!run_block(condition[begin] ? branch.then_block : branch.else_block, frame, {begin, end})) return false;
    begin = end;
  }
  return true;
}

}  // namespace ingot::tir
