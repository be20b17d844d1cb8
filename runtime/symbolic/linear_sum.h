#pragma once
#include <optional>
#include <vector>

#include "runtime/symbolic/sum.h"

namespace ingot {

// The normal form of what is built of constants, variables, sums and products with constants alone, as Simplifier gives
// it, but without its tables; nullopt for everything else, and where a coefficient overflows.
std::optional<Sum> linear_sum(const PrimExpr& expr);

// The same terms in the same order, with the variables themselves.
struct LinearTerm {
  SymVar var;
  int64_t coefficient;
};
struct LinearTerms {
  int64_t constant = 0;
  std::vector<LinearTerm> terms;
};
std::optional<LinearTerms> linear_terms(const PrimExpr& expr);

}  // namespace ingot
