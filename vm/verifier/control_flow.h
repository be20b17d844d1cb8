#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "vm/executable/program.h"

namespace ingot::vm {

// The shape of one function's code, and the proof that its instructions are whole, their operands lie in their tables
// and their jumps lead to instructions.
struct ControlFlow {
  struct Loop {
    uint32_t header;  // unit of the `loop` instruction
    uint32_t end;     // unit of the last jump back to it; `header` where there is none
  };

  // One side of a branch, entered at its top alone and never left for the other side: the instructions behind the
  // conditional jump at unit `branch` up to the one at `end`, after which the function goes on at `resume`, or nowhere
  // (UINT32_MAX). Those of the other side lie between.
  struct Arm {
    uint32_t branch;
    uint32_t end;
    uint32_t resume;
  };

  // By unit: 0, or where some jump leads here, this unit's number among all such, counted from 1.
  std::vector<uint32_t> targets;
  uint32_t target_count = 0;
  std::vector<Loop> loops;  // by header, as in Function::loops; two are disjoint or one encloses the other
  std::vector<Arm> arms;    // by branch; not all where there are very many within each other
  std::optional<uint32_t> plan_unit;
  std::optional<uint32_t> check_params_unit;
  std::vector<uint32_t> closures;  // functions that make_closure names
};

// Throws CorruptFile naming unit and instruction. Linear in the code.
ControlFlow analyze_control_flow(const Program& program, const Function& function);

}  // namespace ingot::vm
