#include "compiler/ir/expr.h"

namespace ingot::ir {

uint32_t depth_above(std::initializer_list<Expr> children) {
  uint32_t deepest = 0;
  for (const Expr& child : children)
    if (child) deepest = std::max(deepest, child->depth);
  return deepest + 1;
}

uint32_t depth_above(const std::vector<Expr>& children) {
  uint32_t deepest = 0;
  for (const Expr& child : children)
    if (child) deepest = std::max(deepest, child->depth);
  return deepest + 1;
}

uint32_t depth_above(const std::vector<BindingBlock>& blocks, const Expr& body) {
  uint32_t deepest = body ? body->depth : 0;
  for (const BindingBlock& block : blocks)
    for (const Binding& binding : block.bindings)
      if (binding.value) deepest = std::max(deepest, binding.value->depth);
  return deepest + 1;
}

const SymVar& shape_symbol(const Var& var) {
  if (!var.shape_symbol) var.shape_symbol = make_sym_var(var.name);
  return var.shape_symbol;
}

bool is_leaf(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Constant:
    case ExprKind::Var:
    case ExprKind::GlobalVar:
    case ExprKind::PrimValue:
    case ExprKind::String:
    case ExprKind::DataType:
    case ExprKind::NullValue:
    case ExprKind::ExternFunc:
    case ExprKind::Shape:
    case ExprKind::Op:
      return true;
    case ExprKind::Tuple: {
      const auto& fields = as<Tuple>(expr)->fields;
      return std::all_of(fields.begin(), fields.end(), is_leaf);
    }
    default:
      return false;
  }
}

}  // namespace ingot::ir
