#include "compiler/ops/functions.h"
#include "compiler/ops/reduce.h"

namespace ingot::ops {

using namespace ir;
using tir::ExprOp;
using tir::Indices;

StructInfo infer_arg_reduce(const CallSite& call) {
  const auto x = operand(call, 0);
  require_numeric(call, x);
  const auto how = reduction(call, x.rank());
  for (size_t d = 0; d < x.rank(); ++d)
    if (how.along[d] && x.dims()[d].is_const(0))
      call.fail(ErrorCode::ShapeMismatch, "{} has no elements along axis {}: {}", x.name, d, dims_text(x.dims()));
  return tensor_info(DType::Int64, how.kept(x.dims()));
}

Meaning define_arg_reduce(const CallSite& call) {
  OpFunc f(call);
  const auto how = reduction(call, f.dims(f.in()).size());
  const DType dtype = f.dtype(f.in());
  const Dims extents = how.reduced(f.dims(f.in()));
  for (size_t d = 0; d < how.along.size(); ++d)
    if (const auto& dim = f.dims(f.in())[d]; how.along[d] && !dim.as_const())
      f.require(fmt::format("axis_{}", d), PrimExpr::make(PrimOp::Less, {0, dim}));
  const auto best = f.builder().temporary("best", dtype, f.dims(f.out()));
  const bool last = call.flag("select_last_index");
  const auto better = [&](const Element& x, const Element& than) {
    Element result = call.op().name == "argmax" ? (last ? x >= than : x > than) : (last ? x <= than : x < than);
    // The first NaN is taken for the extreme, as max and min propagate it.
    if (is_float(dtype)) result = either(result, both(apply(ExprOp::IsNan, x), no(apply(ExprOp::IsNan, than))));
    return result;
  };
  f.nest(f.dims(f.out()), [&](const Indices& i) -> std::vector<tir::Stmt> {
    const Indices first(extents.size(), PrimExpr(0));
    std::vector<tir::Stmt> body = {tir::store(best, i, f.load(f.in(), how.join(i, first)).expr),
                                   tir::store(f.out(), i, element(DType::Int64, 0.0).expr)};
    Indices k;
    const std::function<std::vector<tir::Stmt>(size_t)> along = [&](size_t depth) -> std::vector<tir::Stmt> {
      if (depth < extents.size()) {
        return {loop(extents[depth], tir::LoopKind::Serial, [&](const PrimExpr& index) {
          k.push_back(index);
          auto inner = along(depth + 1);
          k.pop_back();
          return inner;
        })};
      }
      PrimExpr position = 0;
      for (size_t d = 0; d < extents.size(); ++d) position = position * extents[d] + k[d];
      const Element x = f.load(f.in(), how.join(i, k));
      return {tir::branch(better(x, f.load(best, i)).expr,
                          {tir::store(best, i, x.expr), tir::store(f.out(), i, element(DType::Int64, position).expr)})};
    };
    for (auto& statement : along(0)) body.push_back(std::move(statement));
    return body;
  });
  return f.finish();
}

}  // namespace ingot::ops
