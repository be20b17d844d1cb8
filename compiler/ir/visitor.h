#pragma once
#include <functional>

#include "compiler/ir/expr.h"

// Walks over expressions, one level at a time: the caller recurses where it wants to.
namespace ingot::ir {

// Calls `visit` for every direct child, in the order of evaluation: callee before arguments, the values of bindings
// before the body. Variables that bindings and functions define are not children.
void for_each_child(const Expr& expr, const std::function<void(const Expr&)>& visit);

// The expression with its direct children replaced; the same node where none changes. What was inferred and what is
// not a child (span, attributes, annotations, kernel) stays.
Expr map_children(const Expr& expr, const std::function<Expr(const Expr&)>& map);

}  // namespace ingot::ir
