#pragma once
#include <optional>

#include "compiler/ir/expr.h"

namespace ingot::analysis {

// An unsuffixed literal of the program whose dtype is still open.
bool is_open_literal(const ir::Expr& expr);

// Can the literal become `dtype` as far as its class goes (integers adapt to every numeric dtype, decimals to floats)?
bool can_adapt(const ir::Constant& literal, DType dtype);

// The literal as a constant of `dtype`; null where its value is out of the dtype's range.
std::shared_ptr<const ir::Constant> adapt(const ir::Constant& literal, DType dtype);

// int32 for integers, int64 for those that are too large, float32 for decimals.
DType default_dtype(const ir::Constant& literal);

}  // namespace ingot::analysis
