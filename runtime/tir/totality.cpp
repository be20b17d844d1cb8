#include "runtime/tir/totality.h"

#include <algorithm>

#include "runtime/tir/vectorize.h"

namespace ingot::tir {
namespace {

bool divides_integers(const NestExpr& expr) {
  switch (expr.op) {
    case ExprOp::Div:
    case ExprOp::Mod:
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
    case ExprOp::Pow:
      return is_integer(expr.dtype);
    default:
      return false;
  }
}

}  // namespace

bool Totality::fits(const PrimExpr& expr) const {
  const Range range = range_of(expr, facts_);
  return range.least != INT64_MIN && range.greatest != INT64_MAX;
}

bool Totality::is_total(const PrimExpr& expr) const {
  if (expr.op() == PrimOp::Const || expr.op() == PrimOp::Var) return true;
  if (expr.op() == PrimOp::FloorDiv || expr.op() == PrimOp::FloorMod) {
    const int64_t divisor = expr.operands()[1].as_const().value_or(0);
    if (divisor == 0) return false;
    if (divisor != -1) return is_total(expr.operands()[0]);  // neither leaves int64
  }
  return fits(expr) && std::ranges::all_of(expr.operands(), [&](const PrimExpr& part) { return is_total(part); });
}

bool Totality::is_total(const Place& place) const {
  if (!place.proved || place.guarded) return false;
  const LinearParts parts = linear_parts(place.indices[0]);
  return !parts.rest || is_total(parts.rest);
}

bool Totality::is_safe(const NestExpr& expr) const {
  if (divides_integers(expr)) return false;
  if (expr.op == ExprOp::Load && !is_total(expr.place)) return false;
  if (expr.op == ExprOp::Index && !is_total(expr.index)) return false;
  return std::ranges::all_of(expr.operands, [&](const NestExprRef& operand) { return is_safe(*operand); });
}

}  // namespace ingot::tir
