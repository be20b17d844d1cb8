#pragma once
#include <span>
#include <vector>

#include "runtime/symbolic/simplify.h"
#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// A condition that an If or a Select has decided.
struct Decision {
  const ExprNode* condition;
  bool value;
};

// A place where a PrimFunc reads or writes a buffer, with what surrounds it. Points into the function.
struct Access {
  BufferId buffer = 0;
  std::span<const PrimExpr> indices;
  bool is_store = false;
  std::vector<const For*> loops;    // around it, outermost first
  std::vector<Decision> decisions;  // on the way to it

  bool conditional() const { return !decisions.empty(); }
};

// All accesses in the order of a pre-order walk: of a statement its Store, then the Loads in its expressions, left to
// right; then the statements inside of it.
std::vector<Access> collect_accesses(const PrimFunc& func);

// What is known of a function's variables: dimensions are >= 0, int64 lets and scalars may be anything.
class FuncFacts {
 public:
  // The dimensions `positive` are at least 1.
  explicit FuncFacts(const PrimFunc& func, std::span<const SymVar> positive = {});

  const Assumptions& at_entry() const { return *entry_; }
  // Inside of all of `loops`, outermost first: their indices lie below their extents.
  Assumptions inside(std::span<const For* const> loops) const;
  // Where the access is executed: in its loops, and with what comparisons of int64 indices on the way to it say.
  Assumptions at(const Access& access) const;

 private:
  std::shared_ptr<const Assumptions> entry_;
};

// The position of the element in the row-major buffer.
PrimExpr flat_index(std::span<const PrimExpr> indices, const Buffer& buffer);

}  // namespace ingot::tir
