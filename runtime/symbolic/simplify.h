#pragma once
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/symbolic/prim_expr.h"

namespace ingot {

// What is known of a variable: `least` <= v <= `greatest`. A dimension has least 0.
struct Range {
  int64_t least;
  int64_t greatest;
};

// Facts about variables for simplifier and prover. Variables without an entry may be any int64, or are dimensions (>=
// 0) if the object was made by `dims`.
class Assumptions {
 public:
  static Assumptions dims() {
    Assumptions a;
    a.default_least_ = 0;
    return a;
  }
  // Everything that `base` says, without a copy; what is stated then adds to it.
  static Assumptions extending(std::shared_ptr<const Assumptions> base);
  void bound(const SymVar& var, Range range);
  // 0 <= var < extent, as for the index of a loop; `extent` may use variables with bounds of their own that were stated
  // before. Where it is a dimension alone, that one is at least 1.
  void below(const SymVar& var, PrimExpr extent);
  // expr >= 0, as a condition says that was found to hold.
  void nonnegative(PrimExpr expr) { conditions_.push_back(std::move(expr)); }
  Range of(const SymVar& var) const;
  std::span<const PrimExpr> conditions() const { return conditions_; }

  struct Below {
    SymVar var;
    PrimExpr extent;
  };
  // In the order in which they were stated.
  std::span<const Below> extents() const { return extents_; }

 private:
  std::unordered_map<const SymVarNode*, Range> ranges_;
  std::vector<SymVar> owners_;  // keep the keys of ranges_ alive
  std::vector<Below> extents_;
  std::vector<PrimExpr> conditions_;
  std::shared_ptr<const Assumptions> base_;
  int64_t default_least_ = INT64_MIN;
};

// The canonical form: sums of products with constant coefficients, terms in a fixed order of variable names and then
// first occurrence, floor divisions resolved where divisibility or ranges decide them. `n + n` gives `2 * n` spelled `n
// * 2`, `(n * 4) / 4` gives `n`, `(i * 16 + j) / 16` with j in [0, 15] gives i. Equal canonical forms mean equal
// values; the reverse does not hold. Linear in practice; never fails (what would overflow stays as it is).
//
// A division stays where its divisor could be zero and nothing else would tell. Otherwise the canonical form has the
// value of the expression wherever that has one; intermediate results may overflow in one of them alone.
PrimExpr simplify(const PrimExpr& expr, const Assumptions& assumptions = Assumptions::dims());

// The range of the values that the expression can take, conservative (it may be too wide).
Range range_of(const PrimExpr& expr, const Assumptions& assumptions);

// expr = coefficient * var + rest, neither of which mentions `var`; nullopt where it has no such form.
struct LinearForm {
  PrimExpr coefficient;
  PrimExpr rest;
};
std::optional<LinearForm> linear_in(const PrimExpr& expr, const SymVar& var, const Assumptions& assumptions);

enum class Proof : uint8_t { No, Unknown, Yes };

// Three answers, as the documents ask: always equal, never equal, or neither proved. Likewise for <= and <.
Proof prove_equal(const PrimExpr& a, const PrimExpr& b, const Assumptions& assumptions = Assumptions::dims());
Proof prove_less_equal(const PrimExpr& a, const PrimExpr& b, const Assumptions& assumptions = Assumptions::dims());
Proof prove_less(const PrimExpr& a, const PrimExpr& b, const Assumptions& assumptions = Assumptions::dims());

}  // namespace ingot
