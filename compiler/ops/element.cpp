#include "compiler/ops/element.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::ops {

using tir::ExprOp;

Element element(tir::Expr expr) { return {std::move(expr)}; }

Element element(DType dtype, double value) {
  if (is_float(dtype)) return {tir::constant(dtype, value)};
  return {tir::constant_int(dtype, static_cast<int64_t>(value))};
}

Element element(DType dtype, const PrimExpr& index) {
  const auto value = index.as_const();
  if (value && is_integer(dtype)) return {tir::constant_int(dtype, *value)};
  if (value) return element(dtype, static_cast<double>(*value));
  return cast(dtype, {tir::index_value(index)});
}

namespace {

int64_t least_integer(DType dtype) {
  if (!is_signed_int(dtype)) return 0;
  return INT64_MIN >> (64 - 8 * dtype_bytes(dtype));
}

int64_t greatest_integer(DType dtype) {
  if (dtype == DType::Bool) return 1;
  // All bits set: what constant_int keeps of it is the greatest of an unsigned dtype.
  return is_signed_int(dtype) ? INT64_MAX >> (64 - 8 * dtype_bytes(dtype)) : -1;
}

}  // namespace

Element lowest(DType dtype) {
  if (is_float(dtype)) return {tir::constant(dtype, -std::numeric_limits<double>::infinity())};
  return {tir::constant_int(dtype, least_integer(dtype))};
}

Element greatest(DType dtype) {
  if (is_float(dtype)) return {tir::constant(dtype, std::numeric_limits<double>::infinity())};
  return {tir::constant_int(dtype, greatest_integer(dtype))};
}

Element apply(ExprOp op, const Element& a) { return {tir::unary(op, a.expr)}; }
Element apply(ExprOp op, const Element& a, const Element& b) { return {tir::binary(op, a.expr, b.expr)}; }

namespace {
Element like(const Element& a, double value) { return element(a.dtype(), value); }
}  // namespace

Element operator+(const Element& a, const Element& b) { return apply(ExprOp::Add, a, b); }
Element operator-(const Element& a, const Element& b) { return apply(ExprOp::Sub, a, b); }
Element operator*(const Element& a, const Element& b) { return apply(ExprOp::Mul, a, b); }
Element operator/(const Element& a, const Element& b) { return apply(ExprOp::Div, a, b); }
Element operator%(const Element& a, const Element& b) { return apply(ExprOp::Mod, a, b); }
Element operator+(const Element& a, double b) { return a + like(a, b); }
Element operator-(const Element& a, double b) { return a - like(a, b); }
Element operator*(const Element& a, double b) { return a * like(a, b); }
Element operator/(const Element& a, double b) { return a / like(a, b); }
Element operator+(double a, const Element& b) { return like(b, a) + b; }
Element operator-(double a, const Element& b) { return like(b, a) - b; }
Element operator*(double a, const Element& b) { return like(b, a) * b; }
Element operator/(double a, const Element& b) { return like(b, a) / b; }
Element operator-(const Element& a) { return apply(ExprOp::Neg, a); }

Element equal(const Element& a, const Element& b) { return apply(ExprOp::Equal, a, b); }
Element not_equal(const Element& a, const Element& b) { return apply(ExprOp::NotEqual, a, b); }
Element operator<(const Element& a, const Element& b) { return apply(ExprOp::Less, a, b); }
Element operator<=(const Element& a, const Element& b) { return apply(ExprOp::LessEqual, a, b); }
Element operator>(const Element& a, const Element& b) { return apply(ExprOp::Greater, a, b); }
Element operator>=(const Element& a, const Element& b) { return apply(ExprOp::GreaterEqual, a, b); }
Element operator<(const Element& a, double b) { return a < like(a, b); }
Element operator>(const Element& a, double b) { return a > like(a, b); }
Element operator>=(const Element& a, double b) { return a >= like(a, b); }
Element both(const Element& a, const Element& b) { return apply(ExprOp::And, a, b); }
Element either(const Element& a, const Element& b) { return apply(ExprOp::Or, a, b); }
Element no(const Element& a) { return apply(ExprOp::Not, a); }

Element truth(const Element& a) { return a.dtype() == DType::Bool ? a : not_equal(a, like(a, 0)); }

Element select(const Element& condition, const Element& if_true, const Element& if_false) {
  return {tir::select(condition.expr, if_true.expr, if_false.expr)};
}
Element select(const Element& condition, const Element& if_true, double if_false) {
  return select(condition, if_true, like(if_true, if_false));
}
Element cast(DType dtype, const Element& a) { return a.dtype() == dtype ? a : Element{tir::cast(dtype, a.expr)}; }
Element min(const Element& a, const Element& b) { return apply(ExprOp::Min, a, b); }
Element max(const Element& a, const Element& b) { return apply(ExprOp::Max, a, b); }
Element min(const Element& a, double b) { return min(a, like(a, b)); }
Element max(const Element& a, double b) { return max(a, like(a, b)); }

Element fixed_point_product(const Element& x, double multiplier, double shift) {
  const int places = 31 - static_cast<int>(std::clamp(shift, -31.0, 30.0));
  const Element product = x * element(DType::Int64, PrimExpr(static_cast<int64_t>(multiplier)));
  const Element half = element(DType::Int64, PrimExpr(int64_t{1} << (places - 1)));
  return apply(ExprOp::ShiftRight, product + half, element(DType::Int64, PrimExpr(int64_t{places})));
}

Element clamp(const Element& a, double low, double high) {
  const Element above = std::isinf(low) && low < 0 ? a : max(a, low);
  return std::isinf(high) && high > 0 ? above : min(above, high);
}

Element softplus(const Element& x, double beta, double threshold) {
  const Element scaled = beta == 1 ? x : x * beta;
  const Element sum =
      max(scaled, 0) + apply(tir::ExprOp::Log, 1 + apply(tir::ExprOp::Exp, -apply(tir::ExprOp::Abs, scaled)));
  // From there on the narrower floats cannot tell the two apart.
  constexpr double kEqual = 17;
  const bool equal_there = x.dtype() != DType::Float64 && threshold >= kEqual;
  const Element result = beta == 1 ? sum : sum / beta;
  return equal_there || std::isinf(threshold) ? result : select(scaled > threshold, x, result);
}

}  // namespace ingot::ops
