#pragma once
#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// The function with symbolic variables replaced in every index, extent and dimension. What binds variables (loops,
// lets) stays as it is: replace only dimensions and scalars.
PrimFunc substitute(const PrimFunc& func, const Substitution& substitution);

// The same for parts of a function.
Expr substitute(const Expr& expr, const Substitution& substitution);
std::vector<Stmt> substitute(const std::vector<Stmt>& body, const Substitution& substitution);

}  // namespace ingot::tir
