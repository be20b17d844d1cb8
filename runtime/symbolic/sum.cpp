#include "runtime/symbolic/sum.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/checked.h"

namespace ingot {
namespace {

constexpr size_t kMaxTerms = 512;
constexpr size_t kMaxDistributed = 64;
constexpr size_t kMaxFactors = 16;

PrimExpr product(const std::vector<PrimExpr>& factors) {
  PrimExpr result = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) result = PrimExpr::make(PrimOp::Mul, {result, factors[i]});
  return result;
}

PrimExpr scaled(const Term& term, int64_t coefficient) {
  PrimExpr result = product(term.factors);
  return coefficient == 1 ? result : PrimExpr::make(PrimOp::Mul, {result, coefficient});
}

// Halves long sums, so that the depth of the result stays small.
PrimExpr total(std::span<const PrimExpr> parts) {
  constexpr size_t kChain = 32;
  if (parts.size() > kChain) {
    const size_t half = parts.size() / 2;
    return PrimExpr::make(PrimOp::Add, {total(parts.first(half)), total(parts.subspan(half))});
  }
  PrimExpr result = parts[0];
  for (const PrimExpr& part : parts.subspan(1)) result = PrimExpr::make(PrimOp::Add, {result, part});
  return result;
}

// The coefficient can be written as a subtraction.
bool subtractable(int64_t coefficient) { return coefficient < 0 && coefficient != INT64_MIN; }

}  // namespace

size_t SumAlgebra::rank(const SymVar& var) { return ranks_.try_emplace(var.get(), ranks_.size()).first->second; }

int SumAlgebra::compare(const PrimExpr& a, const PrimExpr& b) {
  if (a.same_node(b)) return 0;
  const auto three_way = [](const auto& x, const auto& y) { return x < y ? -1 : x > y ? 1 : 0; };
  const auto order = [](PrimOp op) { return op == PrimOp::Var ? -1 : static_cast<int>(op); };
  if (a.op() != b.op()) return three_way(order(a.op()), order(b.op()));
  if (a.op() == PrimOp::Const) return three_way(a.value(), b.value());
  if (a.op() == PrimOp::Var) {
    if (a.var() == b.var()) return 0;
    if (const int names = a.var()->name.compare(b.var()->name)) return names;
    const size_t first = rank(a.var());
    return three_way(first, rank(b.var()));
  }
  for (size_t i = 0; i < a.operands().size(); ++i)
    if (const int operands = compare(a.operands()[i], b.operands()[i])) return operands;
  return 0;
}

int SumAlgebra::compare_factors(const std::vector<PrimExpr>& a, const std::vector<PrimExpr>& b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i)
    if (const int factors = compare(a[i], b[i])) return factors;
  return a.size() > b.size() ? -1 : a.size() < b.size() ? 1 : 0;
}

Sum SumAlgebra::of_atom(PrimExpr atom) {
  Sum sum;
  sum.terms.push_back({1, {std::move(atom)}});
  return sum;
}

std::optional<Sum> SumAlgebra::collect(int64_t constant, std::vector<Term> terms) {
  std::ranges::sort(terms, [&](const Term& a, const Term& b) { return compare_factors(a.factors, b.factors) < 0; });
  Sum sum{constant, {}};
  for (Term& term : terms) {
    if (!sum.terms.empty() && compare_factors(sum.terms.back().factors, term.factors) == 0) {
      const auto coefficient = checked_add(sum.terms.back().coefficient, term.coefficient);
      if (!coefficient) return std::nullopt;
      sum.terms.back().coefficient = *coefficient;
    } else {
      if (!sum.terms.empty() && sum.terms.back().coefficient == 0) sum.terms.pop_back();
      sum.terms.push_back(std::move(term));
    }
  }
  if (!sum.terms.empty() && sum.terms.back().coefficient == 0) sum.terms.pop_back();
  return sum;
}

std::optional<Sum> SumAlgebra::add(const Sum& a, const Sum& b) {
  const auto constant = checked_add(a.constant, b.constant);
  if (!constant || a.terms.size() + b.terms.size() > kMaxTerms) return std::nullopt;
  Sum sum{*constant, {}};
  sum.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    const int order = x == a.terms.end() ? 1 : y == b.terms.end() ? -1 : compare_factors(x->factors, y->factors);
    if (order < 0) {
      sum.terms.push_back(*x++);
    } else if (order > 0) {
      sum.terms.push_back(*y++);
    } else {
      const auto coefficient = checked_add(x->coefficient, y->coefficient);
      if (!coefficient) return std::nullopt;
      if (*coefficient != 0) sum.terms.push_back({*coefficient, x->factors});
      ++x;
      ++y;
    }
  }
  return sum;
}

std::optional<Sum> SumAlgebra::scale(const Sum& a, int64_t factor) const {
  if (factor == 0) return Sum{};
  const auto constant = checked_mul(a.constant, factor);
  if (!constant) return std::nullopt;
  Sum sum{*constant, a.terms};
  for (Term& term : sum.terms) {
    const auto coefficient = checked_mul(term.coefficient, factor);
    if (!coefficient) return std::nullopt;
    term.coefficient = *coefficient;
  }
  return sum;
}

std::optional<Sum> SumAlgebra::subtract(const Sum& a, const Sum& b) {
  const auto negated = scale(b, -1);
  return negated ? add(a, *negated) : std::nullopt;
}

std::optional<Sum> SumAlgebra::multiply(const Sum& a, const Sum& b) {
  if (b.is_const()) return scale(a, b.constant);
  if (a.is_const()) return scale(b, a.constant);
  if ((a.terms.size() + 1) * (b.terms.size() + 1) > kMaxDistributed) return std::nullopt;
  const auto constant = checked_mul(a.constant, b.constant);
  if (!constant) return std::nullopt;
  std::vector<Term> terms;
  const auto add_scaled = [&](const Sum& sum, int64_t factor) {
    for (const Term& term : sum.terms) {
      const auto coefficient = checked_mul(term.coefficient, factor);
      if (!coefficient) return false;
      if (*coefficient != 0) terms.push_back({*coefficient, term.factors});
    }
    return true;
  };
  if (!add_scaled(a, b.constant) || !add_scaled(b, a.constant)) return std::nullopt;
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      const auto coefficient = checked_mul(x.coefficient, y.coefficient);
      if (!coefficient || x.factors.size() + y.factors.size() > kMaxFactors) return std::nullopt;
      terms.push_back({*coefficient, combine(x.factors, y.factors)});
    }
  }
  return collect(*constant, std::move(terms));
}

bool SumAlgebra::same(const Sum& a, const Sum& b) {
  return a.constant == b.constant && std::ranges::equal(a.terms, b.terms, [&](const Term& x, const Term& y) {
           return x.coefficient == y.coefficient && compare_factors(x.factors, y.factors) == 0;
         });
}

std::optional<std::vector<PrimExpr>> SumAlgebra::cancel(const std::vector<PrimExpr>& factors,
                                                        const std::vector<PrimExpr>& divisor) {
  std::vector<PrimExpr> rest;
  auto next = divisor.begin();
  for (const PrimExpr& factor : factors) {
    if (next != divisor.end() && compare(factor, *next) == 0) {
      ++next;
    } else {
      rest.push_back(factor);
    }
  }
  if (next != divisor.end()) return std::nullopt;
  return rest;
}

std::vector<PrimExpr> SumAlgebra::combine(const std::vector<PrimExpr>& a, const std::vector<PrimExpr>& b) {
  std::vector<PrimExpr> result;
  result.reserve(a.size() + b.size());
  std::ranges::merge(a, b, std::back_inserter(result),
                     [&](const PrimExpr& x, const PrimExpr& y) { return compare(x, y) < 0; });
  return result;
}

PrimExpr SumAlgebra::render(const Sum& sum) {
  std::vector<PrimExpr> added, subtracted;
  for (const Term& term : sum.terms) {
    if (subtractable(term.coefficient)) {
      subtracted.push_back(scaled(term, -term.coefficient));
    } else {
      added.push_back(scaled(term, term.coefficient));
    }
  }
  int64_t constant = sum.constant;
  if (added.empty()) {
    if (constant > 0 || subtracted.empty()) {
      added.emplace_back(constant);
      constant = 0;
    } else {
      added.push_back(scaled(sum.terms[0], sum.terms[0].coefficient));
      subtracted.erase(subtracted.begin());
    }
  }
  PrimExpr result = total(added);
  if (constant > 0 || constant == INT64_MIN) result = PrimExpr::make(PrimOp::Add, {result, constant});
  if (subtracted.size() > 4) {
    result = PrimExpr::make(PrimOp::Sub, {result, total(subtracted)});
  } else {
    for (const PrimExpr& part : subtracted) result = PrimExpr::make(PrimOp::Sub, {result, part});
  }
  if (subtractable(constant)) result = PrimExpr::make(PrimOp::Sub, {result, -constant});
  return result;
}

uint64_t content(const Sum& sum) {
  uint64_t divisor = 0;
  for (const Term& term : sum.terms) {
    const auto magnitude = static_cast<uint64_t>(term.coefficient);
    divisor = std::gcd(divisor, term.coefficient < 0 ? uint64_t{0} - magnitude : magnitude);
  }
  return divisor;
}

}  // namespace ingot
