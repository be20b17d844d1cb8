#pragma once
#include <cstdint>
#include <optional>

#include "runtime/symbolic/prim_expr.h"

namespace ingot {

// The value of a binary operation on dimensions; comparisons give 0 or 1. nullopt on overflow, a zero divisor, and for
// operations that are not binary or evaluate their operands lazily.
std::optional<int64_t> apply(PrimOp op, int64_t a, int64_t b);

}  // namespace ingot
