#pragma once
#include "compiler/ir/expr.h"

namespace ingot::ir {

// Is it a comparison, or logic on some? Its value is 0 or 1.
bool is_condition(const PrimExpr& expr);

// Bool for conditions, Int64 for other integer expressions, Float64 and Bool for literals.
DType dtype_of(const PrimValue& prim);

}  // namespace ingot::ir
