#pragma once
#include <deque>
#include <optional>

#include "runtime/tir/machine.h"
#include "runtime/tir/nest.h"

namespace ingot::tir {

// What Interpreter::run runs. Steps point to details that it owns, so it does not move.
struct MachineProgram {
  MachineProgram() = default;
  MachineProgram(const MachineProgram&) = delete;
  MachineProgram& operator=(const MachineProgram&) = delete;

  Block main;
  std::deque<LinearPosition> positions;
  std::deque<LaneIndex> lane_indices;
  std::deque<IndexTree> trees;
  std::deque<LoopDetail> loops;
  std::deque<BranchDetail> branches;

  std::vector<bool> has_storage;  // of each register; the others lie in buffers
  uint32_t vars = 0;
  struct Constant {
    uint32_t reg;
    DType dtype;
    uint64_t bits;
  };
  std::vector<Constant> constants;
  struct ScalarParam {
    uint32_t reg;
    DType dtype;
    std::optional<uint32_t> slot;     // its index variable
    std::optional<int64_t> expected;  // what the payload must hold
  };
  std::vector<ScalarParam> scalars;
};

void compile(const Nest& nest, MachineProgram& program);

}  // namespace ingot::tir
