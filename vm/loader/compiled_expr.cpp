#include "vm/loader/compiled_expr.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runtime/base/error.h"
#include "runtime/symbolic/apply.h"

namespace ingot::vm {
namespace {

// More than any expression of a real program needs; deeper ones are evaluated over the tree.
constexpr size_t kStack = 32;

struct Shape {
  bool lazy = false;
  size_t depth = 0;
};

bool is_eager(PrimOp op) { return op != PrimOp::Select && op != PrimOp::And && op != PrimOp::Or; }

Shape measure(const PrimExpr& expr) {
  Shape shape{!is_eager(expr.op()), 1};
  size_t below = 0;
  for (const PrimExpr& operand : expr.operands()) {
    const Shape inner = measure(operand);
    shape.lazy |= inner.lazy;
    shape.depth = std::max(shape.depth, inner.depth + below);
    ++below;
  }
  return shape;
}

}  // namespace

uint32_t VarSlots::of(const SymVar& var) const {
  const auto found = std::find(vars_.begin(), vars_.end(), var);
  if (found == vars_.end()) fail(ErrorCode::Internal, "symbolic variable {} has no slot", var->name);
  return static_cast<uint32_t>(found - vars_.begin());
}

CompiledExpr::CompiledExpr(const PrimExpr& expr, const VarSlots& slots) : source_(expr) {
  if (const auto value = expr.as_const()) {
    number_ = *value;
    return;
  }
  if (expr.op() == PrimOp::Var) {
    form_ = Form::Var;
    number_ = slots.of(expr.var());
    return;
  }
  for_each_var(expr, [&](const SymVar& var) { vars_.emplace_back(var, slots.of(var)); });
  const Shape shape = measure(expr);
  if (shape.lazy || shape.depth > kStack) {
    form_ = Form::Lazy;
    return;
  }
  form_ = Form::Code;
  const auto emit = [&](const auto& self, const PrimExpr& e) -> void {
    for (const PrimExpr& operand : e.operands()) self(self, operand);
    int64_t number = 0;
    if (e.op() == PrimOp::Const) number = e.value();
    if (e.op() == PrimOp::Var) number = slots.of(e.var());
    steps_.push_back({e.op(), number});
  };
  emit(emit, expr);
}

int64_t CompiledExpr::evaluate_code(std::span<const int64_t> vars) const {
  if (form_ == Form::Lazy) return evaluate_tree(vars);
  std::array<int64_t, kStack> stack;
  size_t top = 0;
  for (const Step& step : steps_) {
    switch (step.op) {
      case PrimOp::Const:
        stack[top++] = step.number;
        break;
      case PrimOp::Var:
        stack[top++] = vars[static_cast<size_t>(step.number)];
        break;
      case PrimOp::Not:
        stack[top - 1] = stack[top - 1] == 0;
        break;
      default: {
        const auto result = apply(step.op, stack[top - 2], stack[top - 1]);
        if (!result) return evaluate_tree(vars);
        stack[--top - 1] = *result;
      }
    }
  }
  return stack[0];
}

int64_t CompiledExpr::evaluate_tree(std::span<const int64_t> vars) const {
  return ingot::evaluate(source_, [&](const SymVar& var) -> std::optional<int64_t> {
    for (const auto& [known, slot] : vars_)
      if (known == var) return vars[slot];
    return std::nullopt;
  });
}

std::string bindings_text(const CompiledExpr& expr, const VarSlots& slots, std::span<const int64_t> vars) {
  std::string text;
  for_each_var(expr.source(), [&](const SymVar& var) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", var->name, vars[slots.of(var)]);
  });
  return text;
}

}  // namespace ingot::vm
