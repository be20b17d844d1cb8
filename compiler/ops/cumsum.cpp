#include "compiler/ops/functions.h"
#include "compiler/ops/reduce.h"

namespace ingot::ops {

using namespace ir;
using tir::Indices;

StructInfo infer_cumsum(const CallSite& call) {
  const auto x = operand(call, 0);
  require_numeric(call, x);
  call.axis("axis", x.rank());
  return x.info;
}

Meaning define_cumsum(const CallSite& call) {
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  const Reduction along = along_axis(call, dims.size());
  const DType dtype = f.dtype(f.in());
  const DType wide = accumulator(dtype);
  const auto total = f.builder().temporary("total", wide, along.kept(dims));
  const PrimExpr extent = along.reduced(dims).front();
  f.nest(along.kept(dims), [&](const Indices& i) -> std::vector<tir::Stmt> {
    return {tir::store(total, i, element(wide, 0.0).expr),
            loop(extent, tir::LoopKind::Serial, [&](const PrimExpr& step) -> std::vector<tir::Stmt> {
              const PrimExpr k = call.flag("reverse") ? extent - 1 - step : step;
              const Indices at = along.join(i, {k});
              const auto add = tir::store(total, i, (f.load(total, i) + cast(wide, f.load(f.in(), at))).expr);
              const auto put = tir::store(f.out(), at, cast(dtype, f.load(total, i)).expr);
              if (call.flag("exclusive")) return {put, add};
              return {add, put};
            })};
  });
  return f.finish();
}

}  // namespace ingot::ops
