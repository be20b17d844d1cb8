#include "runtime/symbolic/simplifier.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/base/checked.h"
#include "runtime/symbolic/interval.h"
#include "runtime/symbolic/linear_sum.h"

namespace ingot {
namespace {

const PrimExpr* single_atom(const Sum& sum) {
  const bool single =
      sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].coefficient == 1 && sum.terms[0].factors.size() == 1;
  return single ? &sum.terms[0].factors[0] : nullptr;
}

int64_t magnitude_gcd(int64_t coefficient, int64_t divisor) {
  return static_cast<int64_t>(std::gcd(coefficient % divisor, divisor));
}

}  // namespace

const Sum& Simplifier::normalize(const PrimExpr& expr) {
  const void* key = expr.node();
  if (const auto found = sums_.find(key); found != sums_.end()) return found->second.second;
  std::optional<Sum> linear;
  if (!inside_) linear = linear_sum(expr);
  if (linear) {
    for_each_var(expr, [&](const SymVar& var) { algebra_.meet(var); });
    linear = algebra_.collect(linear->constant, std::move(linear->terms));
  }
  const bool outermost = !std::exchange(inside_, true);
  Sum sum = linear ? std::move(*linear) : compute(expr);
  inside_ = !outermost;
  return sums_.try_emplace(key, expr, std::move(sum)).first->second.second;
}

Sum Simplifier::compute(const PrimExpr& expr) {
  const auto operand = [&](size_t i) -> const Sum& { return normalize(expr.operands()[i]); };
  switch (expr.op()) {
    case PrimOp::Const:
      return SumAlgebra::of_const(expr.value());
    case PrimOp::Var: {
      algebra_.meet(expr.var());
      return SumAlgebra::of_atom(expr);
    }
    case PrimOp::Add:
    case PrimOp::Sub:
      return recombine(arithmetic(expr.op(), operand(0), operand(1)));
    case PrimOp::Mul:
      return arithmetic(expr.op(), operand(0), operand(1));
    case PrimOp::FloorDiv:
      return divide(operand(0), operand(1));
    case PrimOp::FloorMod:
      return modulo(operand(0), operand(1));
    case PrimOp::Min:
    case PrimOp::Max:
      return choose(expr.op(), operand(0), operand(1));
    case PrimOp::Equal:
      return equal(operand(0), operand(1), false);
    case PrimOp::NotEqual:
      return equal(operand(0), operand(1), true);
    case PrimOp::Less:
      return less(operand(0), operand(1));
    case PrimOp::LessEqual:
      return logical_not(less(operand(1), operand(0)));
    case PrimOp::And:
    case PrimOp::Or:
      return logic(expr.op(), operand(0), operand(1));
    case PrimOp::Not:
      return logical_not(operand(0));
    case PrimOp::Select: {
      const Sum& condition = operand(0);
      if (condition.is_const()) return condition.constant != 0 ? operand(1) : operand(2);
      if (algebra_.same(operand(1), operand(2))) return operand(1);
      if (second_suffices(render(condition), expr.operands()[1], expr.operands()[2])) return operand(2);
      return atom(PrimOp::Select, {render(condition), render(operand(1)), render(operand(2))});
    }
  }
  return atom(expr.op(), {expr.operands().begin(), expr.operands().end()});
}

// For the condition v = c: do both have the same value where v is c? Then the second one holds everywhere.
bool Simplifier::second_suffices(const PrimExpr& condition, const PrimExpr& first, const PrimExpr& second) {
  if (condition.op() != PrimOp::Equal) return false;
  const PrimExpr &var = condition.operands()[0], &value = condition.operands()[1];
  if (var.op() != PrimOp::Var || !value.as_const()) return false;
  const auto there = [&](const SymVar& v) { return v == var.var() ? std::optional(value) : std::nullopt; };
  const PrimExpr a = substitute(first, there), b = substitute(second, there);
  if (algebra_.same(Sum(normalize(a)), normalize(b))) return true;
  // The index of a loop that runs once is 0.
  const auto once = [&](const SymVar& v) -> std::optional<PrimExpr> {
    for (const auto& [index, extent] : assumptions_.extents())
      if (index == v && normalize(substitute(extent, there)).is_const(1)) return PrimExpr(0);
    return std::nullopt;
  };
  return algebra_.same(Sum(normalize(substitute(a, once))), normalize(substitute(b, once)));
}

PrimExpr Simplifier::render(const Sum& sum) {
  PrimExpr expr = SumAlgebra::render(sum);
  sums_.try_emplace(expr.node(), expr, sum);
  return expr;
}

Sum Simplifier::atom(PrimOp op, std::vector<PrimExpr> operands) {
  PrimExpr expr = PrimExpr::make(op, std::move(operands));
  Sum sum = SumAlgebra::of_atom(expr);
  sums_.try_emplace(expr.node(), expr, sum);
  return sum;
}

Sum Simplifier::atom(PrimOp op, const Sum& a, const Sum& b) { return atom(op, {render(a), render(b)}); }

Sum Simplifier::arithmetic(PrimOp op, const Sum& a, const Sum& b) {
  std::optional<Sum> sum;
  if (op == PrimOp::Add) sum = algebra_.add(a, b);
  if (op == PrimOp::Sub) sum = algebra_.subtract(a, b);
  if (op == PrimOp::Mul) sum = algebra_.multiply(a, b);
  return sum ? std::move(*sum) : atom(op, a, b);
}

Simplifier::Division Simplifier::split(const Sum& a, int64_t b) {
  Division result;
  result.divisor = b;
  result.quotient.constant = floor_div(a.constant, b);
  result.rest.constant = floor_mod(a.constant, b);
  for (const Term& term : a.terms) {
    if (const int64_t whole = term.coefficient / b) result.quotient.terms.push_back({whole, term.factors});
    if (const int64_t rest = term.coefficient % b) result.rest.terms.push_back({rest, term.factors});
  }
  return result;
}

std::optional<Simplifier::Division> Simplifier::split(const Sum& a, const Term& b) {
  Division result;
  result.rest.constant = a.constant;
  std::vector<Term> whole;
  int64_t constant = 0;
  for (const Term& term : a.terms) {
    auto factors = b.coefficient == -1 || term.coefficient % b.coefficient != 0
                       ? std::nullopt
                       : algebra_.cancel(term.factors, b.factors);
    if (!factors) {
      result.rest.terms.push_back(term);
    } else if (factors->empty()) {
      constant = term.coefficient / b.coefficient;
    } else {
      whole.push_back({term.coefficient / b.coefficient, std::move(*factors)});
    }
  }
  auto quotient = algebra_.collect(constant, std::move(whole));
  if (!quotient) return std::nullopt;
  result.quotient = std::move(*quotient);
  return result;
}

// Then a / b = quotient / (b / divisor) and a % b = quotient % (b / divisor) * divisor + rest.
std::optional<Simplifier::Division> Simplifier::split_by_range(const Sum& a, int64_t b) {
  std::vector<int64_t> candidates;
  for (const Term& term : a.terms) {
    const int64_t g = magnitude_gcd(term.coefficient, b);
    if (g > 1 && g < b && std::ranges::find(candidates, g) == candidates.end()) candidates.push_back(g);
    if (candidates.size() == 8) break;
  }
  std::ranges::sort(candidates, std::greater<>());
  for (const int64_t g : candidates) {
    Division result;
    result.quotient.constant = g * floor_div(a.constant, g);
    result.rest.constant = floor_mod(a.constant, g);
    for (const Term& term : a.terms) (term.coefficient % g == 0 ? result.quotient : result.rest).terms.push_back(term);
    const Range rest = range(result.rest);
    if (rest.least < 0 || rest.greatest >= g) continue;
    result.quotient.constant /= g;
    for (Term& term : result.quotient.terms) term.coefficient /= g;
    result.divisor = g;
    return result;
  }
  return std::nullopt;
}

Sum Simplifier::divide(const Sum& a, const Sum& b) {
  if (b.is_const()) {
    if (b.constant > 0) return divide_by_const(a, b.constant);
    if (b.constant < 0) {
      const auto dividend = algebra_.scale(a, -1);
      const auto divisor = checked_mul(b.constant, -1);
      if (dividend && divisor) return divide_by_const(*dividend, *divisor);
    }
    return atom(PrimOp::FloorDiv, a, b);
  }
  if (nonnegative(a) && at_least(b, a, 1)) return Sum{};
  const bool divisor_is_nonzero = never_zero(b);
  if (divisor_is_nonzero && algebra_.same(a, b)) return SumAlgebra::of_const(1);
  if (b.constant != 0 || b.terms.size() != 1) return atom(PrimOp::FloorDiv, a, b);
  const auto parts = split(a, b.terms[0]);
  if (!parts || parts->quotient.is_const(0)) return atom(PrimOp::FloorDiv, a, b);
  if (parts->rest.is_const(0)) return divisor_is_nonzero ? parts->quotient : atom(PrimOp::FloorDiv, a, b);
  if (nonnegative(parts->rest) && at_least(b, parts->rest, 1)) return parts->quotient;
  return arithmetic(PrimOp::Add, parts->quotient, atom(PrimOp::FloorDiv, parts->rest, b));
}

Sum Simplifier::divide_by_const(const Sum& a, int64_t b) {
  if (b == 1) return a;
  const Division parts = split(a, b);
  const Sum& rest = parts.rest;
  const Range values = range(rest);
  if (has_least(values) && has_greatest(values)) {
    const int64_t quotient = floor_div(values.least, b);
    if (quotient == floor_div(values.greatest, b))
      return arithmetic(PrimOp::Add, parts.quotient, SumAlgebra::of_const(quotient));
  }
  if (const auto finer = split_by_range(rest, b)) {
    const Sum inner = divide_by_const(finer->quotient, b / finer->divisor);
    return arithmetic(PrimOp::Add, parts.quotient, inner);
  }
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1 && rest.terms[0].factors.size() == 1) {
    const PrimExpr& inner = rest.terms[0].factors[0];
    const auto divisor = inner.op() == PrimOp::FloorDiv ? inner.operands()[1].as_const() : std::nullopt;
    if (divisor && *divisor > 0) {
      const auto product = checked_mul(*divisor, b);
      const auto shift = checked_mul(rest.constant, *divisor);
      const auto dividend =
          product && shift ? algebra_.add(normalize(inner.operands()[0]), SumAlgebra::of_const(*shift)) : std::nullopt;
      if (dividend) return arithmetic(PrimOp::Add, parts.quotient, divide_by_const(*dividend, *product));
    }
  }
  return arithmetic(PrimOp::Add, parts.quotient, atom(PrimOp::FloorDiv, rest, SumAlgebra::of_const(b)));
}

Sum Simplifier::modulo(const Sum& a, const Sum& b) {
  if (b.is_const()) return b.constant > 0 ? modulo_const(a, b.constant) : atom(PrimOp::FloorMod, a, b);
  if (nonnegative(a) && at_least(b, a, 1)) return a;
  if (b.constant != 0 || b.terms.size() != 1) {
    return algebra_.same(a, b) && never_zero(b) ? Sum{} : atom(PrimOp::FloorMod, a, b);
  }
  const auto parts = split(a, b.terms[0]);
  if (!parts) return atom(PrimOp::FloorMod, a, b);
  if (parts->rest.is_const(0)) return never_zero(b) ? Sum{} : atom(PrimOp::FloorMod, a, b);
  if (nonnegative(parts->rest) && at_least(b, parts->rest, 1)) return parts->rest;
  return atom(PrimOp::FloorMod, parts->rest, b);
}

Sum Simplifier::modulo_const(const Sum& a, int64_t b) {
  if (b == 1) return Sum{};
  const Division parts = split(a, b);
  const Sum& rest = parts.rest;
  const Range values = range(rest);
  if (has_least(values) && has_greatest(values)) {
    const int64_t quotient = floor_div(values.least, b);
    const auto shift = checked_mul(quotient, b);
    if (shift && quotient == floor_div(values.greatest, b))
      return arithmetic(PrimOp::Sub, rest, SumAlgebra::of_const(*shift));
  }
  if (const auto finer = split_by_range(rest, b)) {
    const Sum inner = modulo_const(finer->quotient, b / finer->divisor);
    return arithmetic(PrimOp::Add, arithmetic(PrimOp::Mul, inner, SumAlgebra::of_const(finer->divisor)), finer->rest);
  }
  Sum positive = rest;
  for (Term& term : positive.terms) term.coefficient = floor_mod(term.coefficient, b);
  return atom(PrimOp::FloorMod, positive, SumAlgebra::of_const(b));
}

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

Sum Simplifier::recombine(Sum sum) {
  const auto has = [&](PrimOp op) {
    return std::ranges::any_of(sum.terms, [&](const Term& term) {
      return std::ranges::any_of(term.factors, [&](const PrimExpr& factor) { return factor.op() == op; });
    });
  };
  while (has(PrimOp::FloorMod) && has(PrimOp::FloorDiv) && recombine_once(sum)) {
  }
  return sum;
}

bool Simplifier::recombine_once(Sum& sum) {
  for (const Term& term : sum.terms) {
    for (const PrimExpr& factor : term.factors) {
      if (factor.op() != PrimOp::FloorMod) continue;
      const Sum dividend = normalize(factor.operands()[0]);
      const Sum divisor = normalize(factor.operands()[1]);
      const Sum quotient = divide(dividend, divisor);
      const auto rest_factors = algebra_.cancel(term.factors, {factor});
      Sum others{term.coefficient, {}};
      if (!rest_factors->empty()) others = Sum{0, {{term.coefficient, *rest_factors}}};
      const auto step = algebra_.multiply(divisor, quotient);
      const auto removed = step ? algebra_.multiply(*step, others) : std::nullopt;
      if (!removed || removed->terms.empty()) continue;
      const bool present = std::ranges::all_of(removed->terms, [&](const Term& part) {
        return std::ranges::any_of(sum.terms, [&](const Term& whole) {
          return whole.coefficient == part.coefficient && algebra_.compare_factors(whole.factors, part.factors) == 0;
        });
      });
      if (!present) continue;
      const auto gained = algebra_.multiply(dividend, others);
      const auto without = algebra_.subtract(sum, *removed);
      if (!gained || !without) continue;
      const auto left = algebra_.subtract(*without, Sum{0, {term}});
      auto result = left ? algebra_.add(*left, *gained) : std::nullopt;
      if (!result) continue;
      sum = std::move(*result);
      return true;
    }
  }
  return false;
}

Range Simplifier::range(const Sum& sum) {
  Range total{sum.constant, sum.constant};
  for (const Term& term : sum.terms) {
    Range product{term.coefficient, term.coefficient};
    for (const PrimExpr& factor : term.factors) product = multiply(product, range(factor));
    total = add(total, product);
  }
  return total;
}

Range Simplifier::range(const PrimExpr& expr) {
  const void* key = expr.node();
  if (const auto found = ranges_.find(key); found != ranges_.end()) return found->second.second;
  const Range result = compute_range(expr);
  ranges_.try_emplace(key, expr, result);
  return result;
}

Range Simplifier::compute_range(const PrimExpr& expr) {
  const auto operand = [&](size_t i) { return range(expr.operands()[i]); };
  switch (expr.op()) {
    case PrimOp::Const:
      return {expr.value(), expr.value()};
    case PrimOp::Var: {
      Range values = assumptions_.of(expr.var());
      for (const auto& below : assumptions_.extents()) {
        if (below.var != expr.var()) continue;
        const Range extent = range(below.extent);
        if (has_greatest(extent))
          values.greatest = std::min(values.greatest, std::max<int64_t>(extent.greatest, 1) - 1);
      }
      return values;
    }
    case PrimOp::Add:
      return add(operand(0), operand(1));
    case PrimOp::Sub:
      return add(operand(0), negate(operand(1)));
    case PrimOp::Mul:
      return multiply(operand(0), operand(1));
    case PrimOp::FloorDiv:
      return floor_div(operand(0), operand(1));
    case PrimOp::FloorMod:
      return floor_mod(operand(0), operand(1));
    case PrimOp::Min:
      return min(operand(0), operand(1));
    case PrimOp::Max:
      return max(operand(0), operand(1));
    case PrimOp::Select:
      return hull(operand(1), operand(2));
    default:
      return kBooleanValue;
  }
}

}  // namespace ingot
