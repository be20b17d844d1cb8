#include "runtime/symbolic/linear_sum.h"

#include <algorithm>

#include "runtime/base/checked.h"

namespace ingot {
namespace {

bool add_product(std::optional<int64_t>& sum, int64_t a, int64_t b) {
  const auto product = checked_mul(a, b);
  sum = product ? checked_add(*sum, *product) : std::nullopt;
  return sum.has_value();
}

bool collect(const PrimExpr& expr, int64_t factor, Sum& sum) {
  const auto operands = expr.operands();
  std::optional<int64_t> total;
  switch (expr.op()) {
    case PrimOp::Const:
      total = sum.constant;
      if (!add_product(total, factor, expr.value())) return false;
      sum.constant = *total;
      return true;
    case PrimOp::Var: {
      const auto same = [&](const Term& term) { return term.factors[0].var() == expr.var(); };
      auto term = std::ranges::find_if(sum.terms, same);
      if (term == sum.terms.end()) term = sum.terms.insert(term, Term{0, {expr}});
      total = term->coefficient;
      if (!add_product(total, factor, 1)) return false;
      term->coefficient = *total;
      return true;
    }
    case PrimOp::Add:
      return collect(operands[0], factor, sum) && collect(operands[1], factor, sum);
    case PrimOp::Sub:
      return factor != INT64_MIN && collect(operands[0], factor, sum) && collect(operands[1], -factor, sum);
    case PrimOp::Mul:
      for (const size_t constant : {0, 1}) {
        const auto value = operands[constant].as_const();
        const auto scaled = value ? checked_mul(factor, *value) : std::nullopt;
        if (scaled) return collect(operands[1 - constant], *scaled, sum);
      }
      return false;
    default:
      return false;
  }
}

}  // namespace

std::optional<Sum> linear_sum(const PrimExpr& expr) {
  Sum sum;
  if (!collect(expr, 1, sum)) return std::nullopt;
  std::erase_if(sum.terms, [](const Term& term) { return term.coefficient == 0; });
  std::ranges::stable_sort(sum.terms, {},
                           [](const Term& term) -> const std::string& { return term.factors[0].var()->name; });
  return sum;
}

}  // namespace ingot
