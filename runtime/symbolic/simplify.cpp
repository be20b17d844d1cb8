#include "runtime/symbolic/simplify.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/symbolic/interval.h"
#include "runtime/symbolic/linear_sum.h"
#include "runtime/symbolic/simplifier.h"

namespace ingot {
namespace {

// What the rules cannot handle (an expression that would grow too deep) stays unproved.
template <typename Attempt>
auto attempt_or(Attempt attempt, decltype(attempt()) fallback) -> decltype(attempt()) {
  try {
    return attempt();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Unsupported) throw;
    return fallback;
  }
}

// What the ranges of variables alone tell of sums and products, without tables; for anything else, any value.
Range range_at_sight(const PrimExpr& expr, const Assumptions& assumptions) {
  switch (expr.op()) {
    case PrimOp::Const:
      return {expr.value(), expr.value()};
    case PrimOp::Var:
      return assumptions.of(expr.var());
    case PrimOp::Add:
    case PrimOp::Mul: {
      const Range a = range_at_sight(expr.operands()[0], assumptions);
      const Range b = range_at_sight(expr.operands()[1], assumptions);
      return expr.op() == PrimOp::Add ? add(a, b) : multiply(a, b);
    }
    default:
      return kAnyValue;
  }
}

LinearForm without_term(Sum sum, const SymVar& var) {
  int64_t coefficient = 0;
  std::erase_if(sum.terms, [&](const Term& term) {
    if (term.factors[0].var() != var) return false;
    coefficient = term.coefficient;
    return true;
  });
  return {coefficient, SumAlgebra::render(sum)};
}

}  // namespace

Assumptions Assumptions::extending(std::shared_ptr<const Assumptions> base) {
  Assumptions a;
  a.extents_ = base->extents_;
  a.conditions_ = base->conditions_;
  a.default_least_ = base->default_least_;
  a.base_ = std::move(base);
  return a;
}

void Assumptions::bound(const SymVar& var, Range range) {
  if (ranges_.insert_or_assign(var.get(), range).second) owners_.push_back(var);
}

void Assumptions::below(const SymVar& var, PrimExpr extent) {
  if (extent.op() == PrimOp::Var && of(extent.var()).least == 0) bound(extent.var(), {1, of(extent.var()).greatest});
  const auto constant = extent.as_const();
  bound(var, {0, constant && *constant > 0 ? *constant - 1 : INT64_MAX});
  extents_.push_back({var, std::move(extent)});
}

Range Assumptions::of(const SymVar& var) const {
  for (const Assumptions* a = this; a != nullptr; a = a->base_.get())
    if (const auto found = a->ranges_.find(var.get()); found != a->ranges_.end()) return found->second;
  return {default_least_, INT64_MAX};
}

PrimExpr simplify(const PrimExpr& expr, const Assumptions& assumptions) {
  if (expr.op() == PrimOp::Const || expr.op() == PrimOp::Var) return expr;
  return attempt_or(
      [&] {
        const auto linear = linear_sum(expr);
        PrimExpr result = SumAlgebra::render(linear ? *linear : Simplifier(assumptions).normalize(expr));
        return same_expr(result, expr) ? expr : result;
      },
      expr);
}

Range range_of(const PrimExpr& expr, const Assumptions& assumptions) {
  Simplifier simplifier(assumptions);
  const Range plain = simplifier.range(expr);
  return attempt_or(
      [&] {
        const Range normal = simplifier.range(simplifier.normalize(expr));
        const Range both{std::max(plain.least, normal.least), std::min(plain.greatest, normal.greatest)};
        return both.least <= both.greatest ? both : plain;
      },
      plain);
}

std::optional<LinearForm> linear_in(const PrimExpr& expr, const SymVar& var, const Assumptions& assumptions) {
  const auto mentions = [&](const std::vector<PrimExpr>& factors) {
    bool found = false;
    for (const PrimExpr& factor : factors) for_each_var(factor, [&](const SymVar& other) { found |= other == var; });
    return found;
  };
  return attempt_or(
      [&]() -> std::optional<LinearForm> {
        if (auto linear = linear_sum(expr)) return without_term(std::move(*linear), var);
        Simplifier simplifier(assumptions);
        const Sum sum = simplifier.normalize(expr);
        Sum coefficient;
        Sum rest{sum.constant, {}};
        for (const Term& term : sum.terms) {
          auto factors = simplifier.algebra().cancel(term.factors, {PrimExpr(var)});
          if (mentions(factors ? *factors : term.factors)) return std::nullopt;
          if (!factors) {
            rest.terms.push_back(term);
          } else if (factors->empty()) {
            coefficient.constant = term.coefficient;
          } else {
            coefficient.terms.push_back({term.coefficient, std::move(*factors)});
          }
        }
        const auto ordered = simplifier.algebra().collect(coefficient.constant, std::move(coefficient.terms));
        if (!ordered) return std::nullopt;
        return LinearForm{SumAlgebra::render(*ordered), SumAlgebra::render(rest)};
      },
      std::nullopt);
}

Proof prove_equal(const PrimExpr& a, const PrimExpr& b, const Assumptions& assumptions) {
  if (a.as_const() && b.as_const()) return a.value() == b.value() ? Proof::Yes : Proof::No;
  if (same_expr(a, b)) return Proof::Yes;
  return attempt_or(
      [&] {
        Simplifier simplifier(assumptions);
        const auto difference = simplifier.algebra().subtract(simplifier.normalize(a), simplifier.normalize(b));
        if (!difference) return Proof::Unknown;
        if (difference->is_const(0)) return Proof::Yes;
        return simplifier.never_zero(*difference) ? Proof::No : Proof::Unknown;
      },
      Proof::Unknown);
}

Proof prove_less_equal(const PrimExpr& a, const PrimExpr& b, const Assumptions& assumptions) {
  const Range low = range_at_sight(a, assumptions), high = range_at_sight(b, assumptions);
  if (has_greatest(low) && has_least(high) && low.greatest <= high.least) return Proof::Yes;
  if (has_least(low) && has_greatest(high) && low.least > high.greatest) return Proof::No;
  return attempt_or(
      [&] {
        Simplifier simplifier(assumptions);
        const Sum x = simplifier.normalize(a);
        const Sum y = simplifier.normalize(b);
        if (simplifier.at_least(y, x)) return Proof::Yes;
        return simplifier.at_least(x, y, 1) ? Proof::No : Proof::Unknown;
      },
      Proof::Unknown);
}

Proof prove_less(const PrimExpr& a, const PrimExpr& b, const Assumptions& assumptions) {
  const Proof reverse = prove_less_equal(b, a, assumptions);
  return reverse == Proof::Yes ? Proof::No : reverse == Proof::No ? Proof::Yes : Proof::Unknown;
}

}  // namespace ingot
