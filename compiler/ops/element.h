#pragma once
#include "runtime/tir/builder.h"

// Elements as operators write them: `select(x > 0, x, x * 0.01)` instead of nested calls of the builder. A number takes
// the dtype of the other operand.
namespace ingot::ops {

struct Element {
  tir::Expr expr;
  DType dtype() const { return expr->dtype; }
};

Element element(tir::Expr expr);
Element element(DType dtype, double value);
Element element(DType dtype, const PrimExpr& index);
// The neutral elements of max and min: infinities of floats, the extreme values of integers.
Element lowest(DType dtype);
Element greatest(DType dtype);

Element operator+(const Element& a, const Element& b);
Element operator-(const Element& a, const Element& b);
Element operator*(const Element& a, const Element& b);
Element operator/(const Element& a, const Element& b);
Element operator%(const Element& a, const Element& b);
Element operator+(const Element& a, double b);
Element operator-(const Element& a, double b);
Element operator*(const Element& a, double b);
Element operator/(const Element& a, double b);
Element operator+(double a, const Element& b);
Element operator-(double a, const Element& b);
Element operator*(double a, const Element& b);
Element operator/(double a, const Element& b);
Element operator-(const Element& a);

// Comparisons give bool. NotEqual and the like are spelled out so that == keeps its usual meaning for objects.
Element equal(const Element& a, const Element& b);
Element not_equal(const Element& a, const Element& b);
Element operator<(const Element& a, const Element& b);
Element operator<=(const Element& a, const Element& b);
Element operator>(const Element& a, const Element& b);
Element operator>=(const Element& a, const Element& b);
Element operator<(const Element& a, double b);
Element operator>(const Element& a, double b);
Element operator>=(const Element& a, double b);
Element both(const Element& a, const Element& b);
Element either(const Element& a, const Element& b);
Element no(const Element& a);
// Is it not zero? A bool stays as it is.
Element truth(const Element& a);

// Only the chosen one is evaluated.
Element select(const Element& condition, const Element& if_true, const Element& if_false);
Element select(const Element& condition, const Element& if_true, double if_false);
Element cast(DType dtype, const Element& a);
Element min(const Element& a, const Element& b);
Element max(const Element& a, const Element& b);
Element min(const Element& a, double b);
Element max(const Element& a, double b);
// At least `low`, at most `high`; an infinite bound is none.
// x * multiplier * 2^(shift - 31) for x of int64, rounded half up; the shift is brought between -31 and 30.
Element fixed_point_product(const Element& x, double multiplier, double shift);
Element clamp(const Element& a, double low, double high);
// log(1 + exp(beta x)) / beta without overflow; x where beta x is above the threshold.
Element softplus(const Element& x, double beta, double threshold);
Element apply(tir::ExprOp op, const Element& a);
Element apply(tir::ExprOp op, const Element& a, const Element& b);

}  // namespace ingot::ops
