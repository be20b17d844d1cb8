#include <algorithm>
#include <functional>
#include <numeric>

#include "runtime/base/checked.h"
#include "runtime/symbolic/interval.h"
#include "runtime/symbolic/simplifier.h"

namespace ingot {
namespace {

int64_t magnitude_gcd(int64_t coefficient, int64_t divisor) {
  return static_cast<int64_t>(std::gcd(coefficient % divisor, divisor));
}

}  // namespace

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

}  // namespace ingot
