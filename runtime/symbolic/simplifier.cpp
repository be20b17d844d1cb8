#include "runtime/symbolic/simplifier.h"

#include <algorithm>
#include <utility>

#include "runtime/symbolic/interval.h"
#include "runtime/symbolic/linear_sum.h"

namespace ingot {

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
