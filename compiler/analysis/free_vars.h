#pragma once
#include <functional>
#include <vector>

#include "compiler/ir/expr.h"

namespace ingot::analysis {

// The variables that an expression uses and does not bind itself, in order of first use, once each. Nested functions
// and sequences are walked through.
std::vector<ir::VarRef> free_vars(const ir::Expr& expr);

// Every symbolic variable that is mentioned (in shapes, prim values, annotations, casts and inferred StructInfo), bound
// inside or not, in order of first occurrence. What of it belongs to an enclosing scope is for the caller to know:
// variables are compared by identity.
std::vector<SymVar> mentioned_sym_vars(const ir::Expr& expr);

}  // namespace ingot::analysis
