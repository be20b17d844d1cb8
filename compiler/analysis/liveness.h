#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/ir/expr.h"

namespace ingot::analysis {

// Where the variables of one function of normal form die. A variable that is never used dies at its own binding.
//
// Symbolic variables are not part of it. Nested functions count as uses of what they capture. Linear in the size of the
// function, apart from the live sets at branches.
struct Liveness {
  // Variables whose last use on this path is the binding (its value, or the binding itself where it is never used).
  std::unordered_map<const ir::Binding*, std::vector<const ir::Var*>> dies_at;
  // Variables that are alive when the branch is entered and used in the other branch only.
  std::unordered_map<const ir::Seq*, std::vector<const ir::Var*>> dies_at_entry;
  // Variables that are alive up to the sequence's body and die with it.
  std::unordered_map<const ir::Seq*, std::vector<const ir::Var*>> dies_at_body;
  // Parameters that are never used.
  std::vector<const ir::Var*> unused_params;
};

Liveness find_liveness(const ir::Function& function);

}  // namespace ingot::analysis
