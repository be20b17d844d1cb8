#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/op.h"
#include "vm/isa/isa.h"

namespace ingot::codegen {

// The instruction for an operator on rank-0 tensors: its opcode and the operands that it reads from registers, in its
// order. `immediate` takes the place of the constant among the call's arguments where the instruction has one.
struct ScalarCode {
  vm::Opcode opcode{};
  std::vector<ir::Expr> operands;
  std::optional<int32_t> immediate;
};

// Internal where there is none: the operator was not legalized.
ScalarCode select_scalar(const ir::Call& e, const ir::Op& op);
// The jump_unless_... for a comparison; nullopt for all other calls.
std::optional<ScalarCode> select_jump_unless(const ir::Call& e, const ir::Op& op);

}  // namespace ingot::codegen
