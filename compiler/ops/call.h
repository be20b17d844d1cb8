#pragma once
#include "compiler/ir/op.h"

// Calls of other operators, for operators that mean a composition of them.
namespace ingot::ops {

ir::Expr make_call(std::string_view op, std::vector<ir::Expr> args, ir::Attrs attrs = {});
ir::Expr make_tuple(std::vector<ir::Expr> fields);
ir::Expr field(ir::Expr tuple, size_t index);
// A rank-0 tensor.
ir::Expr scalar(DType dtype, double value);
// The tensors of argument `i`: its fields where it is a tuple, written out or not.
std::vector<ir::Expr> field_exprs(const ir::CallSite& call, size_t i);

}  // namespace ingot::ops
