#pragma once
#include <random>

#include "reference.h"
#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// Well-typed functions with loops of all kinds, lets, branches, temporaries and odd indices, and values for them. Most
// pass the checker; parallel loops that are not disjoint do not. Accesses may be out of bounds and divisors zero.
class RandomFunc {
 public:
  explicit RandomFunc(uint32_t seed) : random_(seed) {}

  PrimFunc make();
  // For the function made last.
  Dims dims();
  std::vector<Bytes> inputs(const Dims& dims);

 private:
  struct Scope;
  int64_t number(int64_t least, int64_t greatest) {
    return std::uniform_int_distribution<int64_t>(least, greatest)(random_);
  }
  bool chance(int percent) { return number(1, 100) <= percent; }
  DType some_dtype();
  Expr expression(DType dtype, int depth, const Scope& scope);
  Expr leaf(DType dtype, const Scope& scope);
  // select(the indices are in bounds, buffer[indices], a leaf), not always with the right bounds.
  Expr guarded_load(BufferId buffer, const Scope& scope);
  std::vector<PrimExpr> indices(BufferId buffer, const Scope& scope);
  PrimExpr index(const PrimExpr& dim, const Scope& scope);
  std::vector<Stmt> statements(int depth, Scope scope);
  Stmt statement(int depth, Scope& scope);
  Stmt whole_write(BufferId buffer, const Scope& scope);

  std::mt19937 random_;
  PrimFunc func_;
  std::vector<PrimExpr> dim_exprs_;
  int names_ = 0;
};

}  // namespace ingot::tir
