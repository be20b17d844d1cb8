#pragma once
#include "compiler/ir/op.h"

// Calls of other operators, for operators that mean a composition of them.
namespace ingot::ops {

ir::Expr make_call(std::string_view op, std::vector<ir::Expr> args, ir::Attrs attrs = {});
// An operator of two operands.
ir::Expr of(std::string_view op, const ir::Expr& x, const ir::Expr& y);
ir::Expr converted(const ir::Expr& x, DType to);
// A builtin of the VM, with what is known of its result.
ir::Expr make_builtin(std::string_view name, std::vector<ir::Expr> args, StructInfo info);
ir::Expr make_tuple(std::vector<ir::Expr> fields);
ir::Expr field(ir::Expr tuple, size_t index);
ir::Expr make_shape(std::vector<PrimExpr> dims);
ir::Expr make_prim(const PrimExpr& value);
ir::Expr make_text(std::string value);
ir::Expr make_none();
// A tensor of float64, rank 1.
ir::Expr numbers(std::span<const double> values);
// A rank-0 tensor.
ir::Expr scalar(DType dtype, double value);
// The parts of x along an axis at indices of which one outside is an error; behind `batch_dims` that both share.
ir::Expr taken(ir::Expr x, ir::Expr indices, int64_t axis, int64_t batch_dims = 0);
// The tensors of argument `i`: its fields where it is a tuple, written out or not.
std::vector<ir::Expr> field_exprs(const ir::CallSite& call, size_t i);

}  // namespace ingot::ops
