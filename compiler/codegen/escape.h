#pragma once
#include <unordered_set>

#include "compiler/ir/expr.h"

namespace ingot::codegen {

// The variables of a lowered function whose tensors may outlive its frame or be kept by somebody else: returned,
// flowing out of a branch, put in a tuple or closure, passed to a PackedFunc, a builtin or a tail call; with
// `callees_write` to any function, as what is written must not be a copy. All others may lie in the arena.
std::unordered_set<const ir::Var*> find_escaping(const ir::Function& function, bool callees_write);

}  // namespace ingot::codegen
