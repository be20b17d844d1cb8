#pragma once
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/module.h"

namespace ingot::analysis {

// Where the elements of tensors may change in a function of a module whose PackedFuncs write to tensors
// (writes_tensors): what reads an element may be moved within these limits. For functions of form Typed and later.
//
// Calls of operators read; everything else that is called may write to all that it may reach. Out of reach are
// constants, of which such calls get copies, and results of operators, tensors of their own, that no more than
// operators ever get: they have no second name, lie in no tuple that leaves, and are no result.
class Writes {
 public:
  // `any` as writes_tensors says of the module; false: nothing is ever written to.
  Writes(bool any, const ir::FunctionRef& function);

  // Does nothing in the function, nor in those within it, write, whatever is called?
  bool writes_nothing() const { return writes_nothing_; }
  // Can nobody write to what the variable holds, now or later: a tensor that an operator made and only operators get?
  bool is_out_of_reach(const ir::Var& var) const { return !any_ || (made_.contains(&var) && !shared_.contains(&var)); }

  // One scope at a time: the bindings that `may_change` is asked about.
  void enter(std::span<const ir::BindingBlock> scope);
  // May the elements of a leaf change after the first of two bindings and before the second one?
  bool may_change(const ir::Binding& first, const ir::Binding& second, const ir::Expr& leaf) const;

 private:
  bool is_in_reach(const ir::Expr& leaf) const;

  bool any_;
  bool writes_nothing_ = true;
  std::unordered_set<const ir::Var*> made_;                    // by operators
  std::unordered_set<const ir::Var*> shared_;                  // with anything but operators
  std::unordered_map<const ir::Var*, size_t> writers_before_;  // of the scope, with the binding itself
};

}  // namespace ingot::analysis
