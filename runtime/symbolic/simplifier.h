#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/symbolic/simplify.h"
#include "runtime/symbolic/sum.h"

namespace ingot {

// One simplification or proof: the rules behind simplify.h, with what they have worked out so far. Each node is
// normalised once. Methods may throw Unsupported where an expression grows too deep; the public functions catch it.
class Simplifier {
 public:
  explicit Simplifier(const Assumptions& assumptions) : assumptions_(assumptions) {}

  // The normal form. The result stays valid as long as the simplifier.
  const Sum& normalize(const PrimExpr& expr);
  Range range(const Sum& sum);
  Range range(const PrimExpr& expr);

  // Proved: at least 0 wherever all atoms have values. Replaces indices by the borders of their extents and minima,
  // maxima and divisions by what bounds them, within a budget of steps.
  bool nonnegative(const Sum& sum);
  // nonnegative(a - b - margin)
  bool at_least(const Sum& a, const Sum& b, int64_t margin = 0);
  bool zero(const Sum& sum) { return sum.is_const(0); }
  bool never_zero(const Sum& sum);
  SumAlgebra& algebra() { return algebra_; }

 private:
  Sum compute(const PrimExpr& expr);
  // The node as an atom, operands as they stand.
  Sum atom(PrimOp op, std::vector<PrimExpr> operands);
  Sum atom(PrimOp op, const Sum& a, const Sum& b);
  PrimExpr render(const Sum& sum);
  bool second_suffices(const PrimExpr& condition, const PrimExpr& first, const PrimExpr& second);

  Sum arithmetic(PrimOp op, const Sum& a, const Sum& b);
  Sum divide(const Sum& a, const Sum& b);
  Sum divide_by_const(const Sum& a, int64_t b);
  Sum modulo(const Sum& a, const Sum& b);
  Sum modulo_const(const Sum& a, int64_t b);
  Sum choose(PrimOp op, const Sum& a, const Sum& b);
  Sum equal(const Sum& a, const Sum& b, bool negated);
  Sum less(const Sum& a, const Sum& b);
  Sum logic(PrimOp op, const Sum& a, const Sum& b);
  Sum logical_not(const Sum& a);
  Sum boolean(const Sum& a);

  // a = quotient * b + rest, as far as terms divide exactly.
  struct Division {
    Sum quotient, rest;
    int64_t divisor = 0;
  };
  Division split(const Sum& a, int64_t b);
  std::optional<Division> split(const Sum& a, const Term& b);
  // a = quotient * divisor + rest with a divisor of b (neither 1 nor b) and a rest in [0, divisor).
  std::optional<Division> split_by_range(const Sum& a, int64_t b);
  // x % c + x / c * c becomes x.
  Sum recombine(Sum sum);
  bool recombine_once(Sum& sum);

  Range compute_range(const PrimExpr& expr);
  bool nonnegative(const Sum& sum, int& budget);
  bool holds_at_borders(const Sum& sum);
  std::optional<Sum> replace_indices(Sum sum);
  std::optional<Sum> replace_linear(const Sum& sum, const PrimExpr& atom, const PrimExpr& extent);

  const Assumptions& assumptions_;
  SumAlgebra algebra_;
  bool inside_ = false;        // of a larger expression that is being normalised
  bool in_condition_ = false;  // of the assumptions
  // Keyed by node; the expressions beside them keep the nodes alive.
  std::unordered_map<const void*, std::pair<PrimExpr, Sum>> sums_;
  std::unordered_map<const void*, std::pair<PrimExpr, Range>> ranges_;
};

}  // namespace ingot
