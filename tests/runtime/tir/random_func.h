#pragma once
#include <random>

#include "reference.h"
#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// Well-typed functions with loops of all kinds, lets, branches, temporaries and odd indices, and values for them. Most
// pass the checker; parallel loops that are not disjoint do not. Accesses may be out of bounds and divisors zero.
// `Breadth::All`: every dtype and operator, dimensions around multiples of a register's lanes, special values.
enum class Breadth : uint8_t { Common, All };

class RandomFunc {
 public:
  explicit RandomFunc(uint32_t seed, Breadth breadth = Breadth::Common) : random_(seed), breadth_(breadth) {}

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
  bool all() const { return breadth_ == Breadth::All; }
  Expr rarer_operator(DType dtype, int depth, const Scope& scope);
  Expr index_condition(const Scope& scope);
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
  Breadth breadth_;
  PrimFunc func_;
  std::vector<PrimExpr> dim_exprs_;
  int names_ = 0;
  bool transcendental_ = true;
};

}  // namespace ingot::tir
