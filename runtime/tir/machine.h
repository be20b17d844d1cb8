#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/symbolic/prim_expr.h"
#include "runtime/tir/interpreter.h"
#include "runtime/tir/prim_func.h"

// The machine of the interpreter. A PrimFunc becomes blocks of steps; a step works on a range of lanes of its registers
// at once. The lanes are consecutive iterations of one loop (the vector loop), so that the cost of a step is shared by
// up to kLanes elements; outside of a vector loop everything runs on lane 0.
namespace ingot::tir {

inline constexpr uint32_t kLanes = 256;
inline constexpr size_t kRegisterBytes = kLanes * 8;

struct Lanes {
  uint32_t begin, end;
};

// The state of one run. Everything lies in the caller's scratch memory.
struct Frame {
  std::byte* const* buffers;  // parameters, then temporaries
  int64_t* vars;              // loop indices (of the vector loop: at lane 0), int64 lets of lane 0
  std::byte** registers;      // lane 0 of each
  uint32_t fill = 1;          // how many lanes the vector loop uses at most
  int64_t countdown = 0;      // lane-steps until the next poll
  PollPoint poll = {};
  RunStatus status = {};

  template <typename T>
  T* lanes(uint32_t id) const {
    return reinterpret_cast<T*>(registers[id]);
  }
  bool fault(ErrorCode code, const char* message) {
    status = {code, true, message};
    return false;
  }
  bool fault(const IndexFault& place) {
    status = {ErrorCode::IndexOutOfRange, true, "an index lies outside of its buffer", place};
    return false;
  }
};

struct Step;
using StepFunction = bool (*)(Frame&, const Step&, Lanes);

// False ends the run with the frame's status.
struct Step {
  StepFunction run;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  const void* detail = nullptr;
};

struct Block {
  std::vector<Step> steps;
  uint32_t cost = 1;  // lane-steps for each lane, roughly
};

inline bool run_block(const Block& block, Frame& frame, Lanes lanes) {
  for (const Step& step : block.steps)
    if (!step.run(frame, step, lanes)) return false;
  return true;
}

// A symbolic expression with variables resolved to slots of Frame::vars.
struct IndexNode {
  PrimOp op;
  int64_t value = 0;  // of Const; of Var: the slot
  uint32_t operands[3] = {};
};
struct IndexTree {
  std::vector<IndexNode> nodes;  // the root is the last
};
// False, with the status set, where it overflows or divides by zero.
bool evaluate_index(const IndexTree& tree, Frame& frame, int64_t& value);

// Details of steps.

// An element whose position is linear in variables and lanes: base + sum of coefficient * vars[slot] + stride * lane.
struct LinearPosition {
  BufferId buffer = 0;
  int64_t base = 0;
  int64_t stride = 0;
  struct Part {
    uint32_t slot;
    int64_t coefficient;
  };
  std::vector<Part> parts;

  int64_t at_lane_0(const int64_t* vars) const {
    auto position = static_cast<uint64_t>(base);
    for (const Part& part : parts)
      position += static_cast<uint64_t>(part.coefficient) * static_cast<uint64_t>(vars[part.slot]);
    return static_cast<int64_t>(position);
  }
};

// Expressions evaluated lane by lane. Without `dims` the value of the first one; with them the position of the element
// that the expressions index, checked against each dimension.
struct LaneIndex {
  std::vector<IndexTree> trees;
  std::vector<int64_t> dims;
  BufferId buffer = 0;  // whose dimensions these are
  bool has_vector_var = false;
  uint32_t vector_slot = 0;
  struct Source {
    uint32_t slot, reg;
  };
  std::vector<Source> sources;  // variables that are read from a register
};

struct LoopDetail {
  uint32_t slot = 0;
  IndexTree extent;
  Block body;
  Block before;  // of vector loops: run once in front of the first iteration, on lane 0
};

struct BranchDetail {
  Block then_block, else_block;
};

// Steps by what they do. Register operands are `a`, `b`, `c`, in order; the result is `dst`.
StepFunction unary_step(ExprOp op, DType dtype);
StepFunction binary_step(ExprOp op, DType dtype);
StepFunction cast_step(DType from, DType to);
// a ? b : c with both known.
StepFunction blend_step(size_t bytes);
StepFunction copy_step(size_t bytes);
// Lane 0 of `a` to the first Frame::fill lanes.
StepFunction broadcast_step(size_t bytes);
// detail: LinearPosition. `alias` lets the register lie in the buffer's memory (stride 1, not bool).
StepFunction load_step(DType dtype, bool alias);
// As load, to the first Frame::fill lanes, whatever lanes it is run for (stride 0).
StepFunction fill_step(DType dtype);
StepFunction store_step(size_t bytes);
// Positions in register `b`; detail: LinearPosition, of which only the buffer counts.
StepFunction gather_step(DType dtype);
StepFunction scatter_step(size_t bytes);
// The element at `detail` becomes op(element, a) for each lane in order; `swapped`: op(a, element).
StepFunction fold_step(ExprOp op, DType dtype, bool swapped);
// detail: LinearPosition; the position itself as int64.
bool run_linear_index(Frame& frame, const Step& step, Lanes lanes);
// detail: LaneIndex.
bool run_lane_index(Frame& frame, const Step& step, Lanes lanes);
// detail: IndexTree; vars[dst] = its value.
bool run_scalar_index(Frame& frame, const Step& step, Lanes lanes);
// vars[dst] = lane `lanes.begin` of int64 register `a`.
bool run_bind_index(Frame& frame, const Step& step, Lanes lanes);
// detail: LoopDetail.
bool run_scalar_loop(Frame& frame, const Step& step, Lanes lanes);
bool run_vector_loop(Frame& frame, const Step& step, Lanes lanes);
// detail: BranchDetail; condition in `a`.
bool run_branch(Frame& frame, const Step& step, Lanes lanes);

}  // namespace ingot::tir
