#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/reduce.h"

namespace ingot::ops {

using namespace ir;
using tir::Indices;

StructInfo infer_cumsum(const CallSite& call) {
  const auto x = operand(call, 0);
  const DType asked = dtype_of(call, "dtype");
  if (x.dtype() != DType::Bool || asked == DType::None || asked == DType::Bool) require_numeric(call, x);
  const DType dtype = asked == DType::None ? x.dtype() : asked;
  if (!call.has_attr("axis")) return tensor_info(dtype, Dims{product(x.dims())});
  call.axis("axis", x.rank());
  return tensor_info(dtype, x.dims());
}

// Of "cumsum" and "cumprod".
Meaning define_cumsum(const CallSite& call) {
  const DType asked = dtype_of(call, "dtype");
  const bool flat = !call.has_attr("axis");
  if (flat || (asked != DType::None && asked != operand(call, 0).dtype())) {
    Expr x = call.arg(0);
    if (flat) x = make_call("flatten", {x});
    if (asked != DType::None) x = make_call("cast", {x}, {{"dtype", asked}});
    return make_call(call.op().name, {x},
                     {{"axis", flat ? int64_t{0} : call.integer("axis")},
                      {"exclusive", call.flag("exclusive")},
                      {"reverse", call.flag("reverse")}});
  }
  const bool product = call.op().name == "cumprod";
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  const Reduction along = along_axis(call, dims.size());
  const DType dtype = f.dtype(f.in());
  const DType wide = accumulator(dtype);
  const auto total = f.builder().temporary("total", wide, along.kept(dims));
  const PrimExpr extent = along.reduced(dims).front();
  f.nest(along.kept(dims), [&](const Indices& i) -> std::vector<tir::Stmt> {
    return {tir::store(total, i, element(wide, product ? 1.0 : 0.0).expr),
            loop(extent, tir::LoopKind::Serial, [&](const PrimExpr& step) -> std::vector<tir::Stmt> {
              const PrimExpr k = call.flag("reverse") ? extent - 1 - step : step;
              const Indices at = along.join(i, {k});
              const Element next = cast(wide, f.load(f.in(), at));
              const auto add = tir::store(total, i, (product ? f.load(total, i) * next : f.load(total, i) + next).expr);
              const auto put = tir::store(f.out(), at, cast(dtype, f.load(total, i)).expr);
              if (call.flag("exclusive")) return {put, add};
              return {add, put};
            })};
  });
  return f.finish();
}

}  // namespace ingot::ops
