#pragma once
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/liveness.h"
#include "compiler/ir/expr.h"

namespace ingot::codegen {

// A variable whose last use is as one argument of a call of a function or closure.
struct ArgumentUse {
  const ir::Call* call;
  size_t index;
};

struct ArgumentUses {
  std::unordered_map<const ir::Var*, ArgumentUse> of;
  // The variables that calls are bound to, where those are arguments themselves.
  std::unordered_map<const ir::Call*, ArgumentUse> of_result;
  // Calls whose result is the function's.
  std::unordered_set<const ir::Call*> tail;
};

// For a lowered function. Linear in its size.
ArgumentUses find_argument_uses(const ir::Function& function, const analysis::Liveness& liveness);

}  // namespace ingot::codegen
