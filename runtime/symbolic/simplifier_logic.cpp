#include <algorithm>
#include <utility>

#include "runtime/base/checked.h"
#include "runtime/symbolic/simplifier.h"

namespace ingot {
namespace {

const PrimExpr* single_atom(const Sum& sum) {
  const bool single =
      sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].coefficient == 1 && sum.terms[0].factors.size() == 1;
  return single ? &sum.terms[0].factors[0] : nullptr;
}

}  // namespace

Sum Simplifier::choose(PrimOp op, const Sum& a, const Sum& b) {
  const bool least = op == PrimOp::Min;
  if (at_least(b, a)) return least ? a : b;
  if (at_least(a, b)) return least ? b : a;
  Sum shared{std::min(a.constant, b.constant), {}};
  for (const Term& x : a.terms)
    for (const Term& y : b.terms)
      if (x.coefficient == y.coefficient && algebra_.compare_factors(x.factors, y.factors) == 0)
        shared.terms.push_back(x);
  const auto x = algebra_.subtract(a, shared);
  const auto y = algebra_.subtract(b, shared);
  const auto make = [&](const Sum& first, const Sum& second) {
    PrimExpr p = render(first);
    PrimExpr q = render(second);
    if (algebra_.compare(p, q) > 0) std::swap(p, q);
    return atom(op, {p, q});
  };
  if (!x || !y || (shared.constant == 0 && shared.terms.empty())) return make(a, b);
  return arithmetic(PrimOp::Add, make(*x, *y), shared);
}

Sum Simplifier::equal(const Sum& a, const Sum& b, bool negated) {
  auto difference = algebra_.subtract(a, b);
  const PrimOp op = negated ? PrimOp::NotEqual : PrimOp::Equal;
  if (!difference) return atom(op, a, b);
  if (zero(*difference)) return SumAlgebra::of_const(negated ? 0 : 1);
  if (never_zero(*difference)) return SumAlgebra::of_const(negated ? 1 : 0);
  Sum left, right;
  const auto divisor = static_cast<int64_t>(content(*difference));
  if (divisor < 0) return atom(op, a, b);
  const int64_t sign = difference->terms[0].coefficient < 0 ? -1 : 1;
  for (const Term& term : difference->terms) {
    const auto coefficient = checked_mul(term.coefficient / divisor, sign);
    const auto opposite = coefficient ? checked_mul(*coefficient, -1) : std::nullopt;
    if (!opposite) return atom(op, a, b);
    if (*coefficient > 0) left.terms.push_back({*coefficient, term.factors});
    if (*coefficient < 0) right.terms.push_back({*opposite, term.factors});
  }
  const auto constant = checked_mul(difference->constant / divisor, -sign);
  if (!constant) return atom(op, a, b);
  right.constant = *constant;
  return atom(op, left, right);
}

Sum Simplifier::less(const Sum& a, const Sum& b) {
  auto margin = algebra_.subtract(b, a);
  const auto least = margin ? checked_sub(margin->constant, 1) : std::nullopt;
  if (!least) return atom(PrimOp::Less, a, b);
  margin->constant = *least;
  if (nonnegative(*margin)) return SumAlgebra::of_const(1);
  if (at_least(a, b)) return Sum{};
  if (margin->is_const()) return atom(PrimOp::Less, a, b);
  const auto divisor = static_cast<int64_t>(content(*margin));
  if (divisor < 0) return atom(PrimOp::Less, a, b);
  Sum left, right;
  for (const Term& term : margin->terms) {
    const int64_t coefficient = term.coefficient / divisor;
    if (coefficient > 0) right.terms.push_back({coefficient, term.factors});
    if (coefficient == INT64_MIN) return atom(PrimOp::Less, a, b);
    if (coefficient < 0) left.terms.push_back({-coefficient, term.factors});
  }
  const auto bound = checked_add(floor_div(margin->constant, divisor), 1);
  if (!bound || *bound == INT64_MIN) return atom(PrimOp::Less, a, b);
  (*bound > 0 ? right : left).constant = *bound > 0 ? *bound : -*bound;
  return atom(PrimOp::Less, left, right);
}

Sum Simplifier::boolean(const Sum& a) {
  if (a.is_const()) return SumAlgebra::of_const(a.constant != 0);
  const Range values = range(a);
  return values.least >= 0 && values.greatest <= 1 ? a : equal(a, Sum{}, true);
}

Sum Simplifier::logic(PrimOp op, const Sum& a, const Sum& b) {
  const bool decides = op == PrimOp::Or;
  if (a.is_const()) return (a.constant != 0) == decides ? SumAlgebra::of_const(decides) : boolean(b);
  if (algebra_.same(a, b)) return boolean(a);
  if (b.is_const() && (b.constant != 0) != decides) return boolean(a);
  return atom(op, boolean(a), boolean(b));
}

Sum Simplifier::logical_not(const Sum& a) {
  if (a.is_const()) return SumAlgebra::of_const(a.constant == 0);
  if (const PrimExpr* inner = single_atom(a)) {
    const auto operand = [&](size_t i) { return normalize(inner->operands()[i]); };
    switch (inner->op()) {
      case PrimOp::Equal:
        return equal(operand(0), operand(1), true);
      case PrimOp::NotEqual:
        return equal(operand(0), operand(1), false);
      case PrimOp::Not:
        return boolean(operand(0));
      case PrimOp::Less:
        if (const auto limit = algebra_.add(operand(0), SumAlgebra::of_const(1))) return less(operand(1), *limit);
        break;
      default:
        break;
    }
  }
  const Range values = range(a);
  if (values.least < 0 || values.greatest > 1) return equal(a, Sum{}, false);
  return atom(PrimOp::Not, {render(a)});
}

}  // namespace ingot
