#include <algorithm>
#include <utility>

#include "runtime/base/checked.h"
#include "runtime/symbolic/interval.h"
#include "runtime/symbolic/simplifier.h"

namespace ingot {
namespace {

constexpr int kProofSteps = 48;

// The position of the term that is `atom` times a constant, if the atom occurs there alone and nowhere else.
std::optional<size_t> linear_term(SumAlgebra& algebra, const Sum& sum, const PrimExpr& atom) {
  std::optional<size_t> position;
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const auto& factors = sum.terms[i].factors;
    const bool occurs =
        std::ranges::any_of(factors, [&](const PrimExpr& factor) { return algebra.compare(factor, atom) == 0; });
    if (!occurs) continue;
    if (position || factors.size() != 1) return std::nullopt;
    position = i;
  }
  return position;
}

Sum without(const Sum& sum, size_t position) {
  Sum rest = sum;
  rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(position));
  return rest;
}

}  // namespace

bool Simplifier::never_zero(const Sum& sum) {
  if (sum.is_const()) return sum.constant != 0;
  if (!contains(range(sum), 0)) return true;
  const uint64_t divisor = content(sum);
  if (divisor <= INT64_MAX && sum.constant % static_cast<int64_t>(divisor) != 0) return true;
  const auto positive = algebra_.add(sum, SumAlgebra::of_const(-1));
  const auto negative = algebra_.subtract(SumAlgebra::of_const(-1), sum);
  return (positive && nonnegative(*positive)) || (negative && nonnegative(*negative));
}

bool Simplifier::at_least(const Sum& a, const Sum& b, int64_t margin) {
  const auto difference = algebra_.subtract(a, b);
  const auto rest = difference ? algebra_.subtract(*difference, SumAlgebra::of_const(margin)) : std::nullopt;
  return rest && nonnegative(*rest);
}

bool Simplifier::nonnegative(const Sum& sum) {
  int budget = kProofSteps;
  return nonnegative(sum, budget);
}

bool Simplifier::nonnegative(const Sum& sum, int& budget) {
  if (range(sum).least >= 0) return true;
  if (sum.is_const() || --budget < 0) return false;
  if (holds_at_borders(sum)) return true;
  for (const PrimExpr& condition : assumptions_.conditions()) {
    // The normal form of a condition would else ask for itself.
    if (std::exchange(in_condition_, true)) break;
    const Sum& known = normalize(condition);
    in_condition_ = false;
    const auto rest = algebra_.subtract(sum, known);
    if (rest && holds_at_borders(*rest)) return true;
  }
  for (const Term& term : sum.terms) {
    if (term.factors.size() != 1) continue;
    const PrimExpr atom = term.factors[0];
    const auto position = linear_term(algebra_, sum, atom);
    if (!position) continue;
    const int64_t coefficient = term.coefficient;
    const Sum rest = without(sum, *position);
    const auto with = [&](const PrimExpr& value) {
      const auto scaled = algebra_.scale(normalize(value), coefficient);
      const auto whole = scaled ? algebra_.add(rest, *scaled) : std::nullopt;
      return whole && nonnegative(*whole, budget);
    };
    switch (atom.op()) {
      case PrimOp::Min:
      case PrimOp::Max: {
        const bool one_suffices = (atom.op() == PrimOp::Max) == (coefficient > 0);
        const bool first = with(atom.operands()[0]);
        if (one_suffices ? first || with(atom.operands()[1]) : first && with(atom.operands()[1])) return true;
        break;
      }
      case PrimOp::Select:
        if (with(atom.operands()[1]) && with(atom.operands()[2])) return true;
        break;
      case PrimOp::FloorDiv: {
        // With q = x / d and d > 0: x - d + 1 <= d * q <= x, and an integer s is >= 0 exactly where d * s > -d.
        const Sum divisor = normalize(atom.operands()[1]);
        if (range(divisor).least < 0) break;
        const auto slack = algebra_.subtract(divisor, SumAlgebra::of_const(1));
        const auto dividend = normalize(atom.operands()[0]);
        const auto bound = coefficient > 0 && slack ? algebra_.subtract(dividend, *slack) : std::optional(dividend);
        const auto replaced = bound ? algebra_.scale(*bound, coefficient) : std::nullopt;
        const auto scaled_rest = algebra_.multiply(rest, divisor);
        const auto whole = replaced && scaled_rest ? algebra_.add(*scaled_rest, *replaced) : std::nullopt;
        const auto shifted = whole && slack ? algebra_.add(*whole, *slack) : std::nullopt;
        if (shifted && nonnegative(*shifted, budget)) return true;
        break;
      }
      default:
        break;
    }
    if (budget < 0) return false;
  }
  return false;
}

bool Simplifier::holds_at_borders(const Sum& sum) {
  if (range(sum).least >= 0) return true;
  const auto replaced = replace_indices(sum);
  return replaced && range(*replaced).least >= 0;
}

// Indices and remainders replaced by the border of their range at which the sum is least.
std::optional<Sum> Simplifier::replace_indices(Sum sum) {
  std::vector<PrimExpr> remainders;
  for (const Term& term : sum.terms)
    for (const PrimExpr& factor : term.factors)
      if (factor.op() == PrimOp::FloorMod && range(factor.operands()[1]).least >= 0) remainders.push_back(factor);
  for (const PrimExpr& remainder : remainders) {
    auto replaced = replace_linear(sum, remainder, remainder.operands()[1]);
    if (replaced) sum = std::move(*replaced);
  }
  const auto extents = assumptions_.extents();
  for (size_t i = extents.size(); i-- > 0;) {
    auto replaced = replace_linear(sum, PrimExpr(extents[i].var), extents[i].extent);
    if (replaced) sum = std::move(*replaced);
  }
  return sum;
}

// `sum` with `atom`, which lies in [0, extent), replaced by 0 or extent - 1; nullopt where the sign of its coefficient
// is not known.
std::optional<Sum> Simplifier::replace_linear(const Sum& sum, const PrimExpr& atom, const PrimExpr& extent) {
  std::vector<Term> slope;
  int64_t slope_constant = 0;
  Sum rest{sum.constant, {}};
  for (const Term& term : sum.terms) {
    auto factors = algebra_.cancel(term.factors, {atom});
    if (!factors) {
      rest.terms.push_back(term);
    } else if (factors->empty()) {
      slope_constant = term.coefficient;
    } else {
      if (algebra_.cancel(*factors, {atom})) return std::nullopt;
      slope.push_back({term.coefficient, std::move(*factors)});
    }
  }
  if (slope.empty() && slope_constant == 0) return std::nullopt;
  const auto coefficient = algebra_.collect(slope_constant, std::move(slope));
  if (!coefficient) return std::nullopt;
  const Range values = range(*coefficient);
  if (values.least >= 0) return rest;
  if (values.greatest > 0) return std::nullopt;
  const auto last = algebra_.subtract(normalize(extent), SumAlgebra::of_const(1));
  const auto reached = last ? algebra_.multiply(*coefficient, *last) : std::nullopt;
  return reached ? algebra_.add(rest, *reached) : std::nullopt;
}

}  // namespace ingot
