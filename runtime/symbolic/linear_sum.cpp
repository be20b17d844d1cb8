#include "runtime/symbolic/linear_sum.h"

#include <algorithm>

#include "runtime/base/checked.h"

namespace ingot {
namespace {

// Points into the expression.
struct Collected {
  struct Part {
    const PrimExpr* var;
    int64_t coefficient;
  };
  int64_t constant = 0;
  std::vector<Part> parts = {};
};

bool add_product(int64_t& sum, int64_t a, int64_t b) {
  const auto product = checked_mul(a, b);
  const auto total = product ? checked_add(sum, *product) : std::nullopt;
  sum = total.value_or(sum);
  return total.has_value();
}

bool collect(const PrimExpr& expr, int64_t factor, Collected& sum) {
  const auto operands = expr.operands();
  switch (expr.op()) {
    case PrimOp::Const:
      return add_product(sum.constant, factor, expr.value());
    case PrimOp::Var: {
      const auto same = [&](const Collected::Part& part) { return part.var->var() == expr.var(); };
      auto part = std::ranges::find_if(sum.parts, same);
      if (part == sum.parts.end()) part = sum.parts.insert(part, {&expr, 0});
      return add_product(part->coefficient, factor, 1);
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

std::optional<Collected> collect(const PrimExpr& expr) {
  constexpr size_t kUsualParts = 4;
  Collected sum;
  sum.parts.reserve(kUsualParts);
  if (!collect(expr, 1, sum)) return std::nullopt;
  std::erase_if(sum.parts, [](const Collected::Part& part) { return part.coefficient == 0; });
  const auto name = [](const Collected::Part& part) -> const std::string& { return part.var->var()->name; };
  if (!std::ranges::is_sorted(sum.parts, {}, name)) std::ranges::stable_sort(sum.parts, {}, name);
  return sum;
}

}  // namespace

std::optional<Sum> linear_sum(const PrimExpr& expr) {
  const auto collected = collect(expr);
  if (!collected) return std::nullopt;
  Sum sum{collected->constant, {}};
  sum.terms.reserve(collected->parts.size());
  for (const auto& [var, coefficient] : collected->parts) sum.terms.push_back({coefficient, {*var}});
  return sum;
}

std::optional<LinearTerms> linear_terms(const PrimExpr& expr) {
  const auto collected = collect(expr);
  if (!collected) return std::nullopt;
  LinearTerms result{collected->constant, {}};
  result.terms.reserve(collected->parts.size());
  for (const auto& [var, coefficient] : collected->parts) result.terms.push_back({var->var(), coefficient});
  return result;
}

}  // namespace ingot
