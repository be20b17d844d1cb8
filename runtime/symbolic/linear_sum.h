#pragma once
#include <optional>

#include "runtime/symbolic/sum.h"

namespace ingot {

// The normal form of what is built of constants, variables, sums and products with constants alone, as Simplifier gives
// it, but without its tables; nullopt for everything else, and where a coefficient overflows.
std::optional<Sum> linear_sum(const PrimExpr& expr);

}  // namespace ingot
