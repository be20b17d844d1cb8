#include "compiler/ir/prim_value.h"

namespace ingot::ir {

bool is_condition(const PrimExpr& expr) {
  const PrimOp op = expr.op();
  return op == PrimOp::Equal || op == PrimOp::NotEqual || op == PrimOp::Less || op == PrimOp::LessEqual ||
         op == PrimOp::And || op == PrimOp::Or || op == PrimOp::Not;
}

DType dtype_of(const PrimValue& prim) {
  if (std::holds_alternative<double>(prim.value)) return DType::Float64;
  if (const auto* expr = std::get_if<PrimExpr>(&prim.value); expr != nullptr && !is_condition(*expr))
    return DType::Int64;
  return DType::Bool;
}

}  // namespace ingot::ir
