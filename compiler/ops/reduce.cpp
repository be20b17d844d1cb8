#include "compiler/ops/reduce.h"

#include "compiler/ops/call.h"
#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;
using tir::ExprOp;
using tir::Indices;

Dims Reduction::kept(std::span<const PrimExpr> dims) const {
  Dims result;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!along[d]) {
      result.push_back(dims[d]);
    } else if (keepdims) {
      result.emplace_back(1);
    }
  }
  return result;
}

Dims Reduction::reduced(std::span<const PrimExpr> dims) const {
  Dims result;
  for (size_t d = 0; d < dims.size(); ++d)
    if (along[d]) result.push_back(dims[d]);
  return result;
}

Indices Reduction::join(const Indices& i, const Indices& k) const {
  Indices index;
  size_t next_i = 0, next_k = 0;
  for (const bool reduces : along) {
    index.push_back(reduces ? k[next_k++] : i[next_i++]);
    if (reduces && keepdims) ++next_i;
  }
  return index;
}

Indices Reduction::project(const Indices& index) const {
  Indices result;
  for (size_t d = 0; d < along.size(); ++d) {
    if (!along[d]) {
      result.push_back(index[d]);
    } else if (keepdims) {
      result.emplace_back(0);
    }
  }
  return result;
}

Reduction along_axis(const CallSite& call, size_t rank) {
  Reduction result;
  result.along.assign(rank, false);
  result.along[static_cast<size_t>(call.axis("axis", rank))] = true;
  return result;
}

Reduction reduction(const CallSite& call, size_t rank) {
  Reduction result;
  const bool exclude = call.has_attr("axis") && call.flag("exclude");
  result.along.assign(rank, exclude);
  for (const int64_t axis : axes(call, "axis", rank)) result.along[static_cast<size_t>(axis)] = !exclude;
  result.keepdims = call.flag("keepdims");
  return result;
}

Element reduced_count(const OpFunc& f, const Reduction& how, DType dtype) {
  return element(dtype, product(how.reduced(f.dims(f.in()))));
}

StructInfo infer_reduce(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto name = call.op().name;
  const bool logical = name == "all" || name == "any";
  if (name == "mean" || name == "variance" || name == "std") {
    require_float(call, x);
  } else if (!logical && !(x.dtype() == DType::Bool && (name == "min" || name == "max" || name == "sum"))) {
    require_numeric(call, x);
  }
  return tensor_info(logical ? DType::Bool : x.dtype(), reduction(call, x.rank()).kept(x.dims()));
}

Meaning define_reduce(const CallSite& call) {
  const auto name = call.op().name;
  if (call.dtype(0) == DType::Bool && (name == "min" || name == "max" || name == "sum"))
    return make_call(name == "min" ? "all" : "any", {call.arg(0)}, call.attrs());
  OpFunc f(call);
  const auto how = reduction(call, f.dims(f.in()).size());
  const DType dtype = f.dtype(f.out());
  ExprOp op = ExprOp::Add;
  Element init = element(dtype, 0.0);
  if (name == "prod") {
    op = ExprOp::Mul;
    init = element(dtype, 1.0);
  } else if (name == "max") {
    op = ExprOp::Max;
    init = lowest(dtype);
  } else if (name == "min") {
    op = ExprOp::Min;
    init = greatest(dtype);
  } else if (name == "all") {
    op = ExprOp::And;
    init = element(dtype, 1.0);
  } else if (name == "any") {
    op = ExprOp::Or;
  }
  f.reduce(f.out(), op, init, how.reduced(f.dims(f.in())), [&](const Indices& i, const Indices& k) {
    const Element x = f.load(f.in(), how.join(i, k));
    return dtype == DType::Bool ? truth(x) : x;
  });
  return f.finish();
}

Meaning define_mean(const CallSite& call) {
  OpFunc f(call);
  const auto how = reduction(call, f.dims(f.in()).size());
  const DType dtype = f.dtype(f.out());
  const DType wide = accumulator(dtype);
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  f.reduce(total, ExprOp::Add, element(wide, 0.0), how.reduced(f.dims(f.in())),
           [&](const Indices& i, const Indices& k) { return cast(wide, f.load(f.in(), how.join(i, k))); });
  f.compute(f.out(), [&](const Indices& i) { return cast(dtype, f.load(total, i) / reduced_count(f, how, wide)); });
  return f.finish();
}

// A given mean may not fit.
Effect variance_effect(const CallSite& call) { return given(call, 1) ? composed_effect(call) : Effect::Total; }

// Of "variance" and "std".
Meaning define_variance(const CallSite& call) {
  if (given(call, 1)) {
    const auto x = operand(call, 0);
    Attrs attrs = call.attrs();
    attrs.erase("unbiased");
    const Expr squares = make_call("square", {make_call("subtract", {call.arg(0), call.arg(1)})});
    if (!call.flag("unbiased")) return make_call("mean", {squares}, std::move(attrs));
    const PrimExpr count = simplify(product(reduction(call, x.rank()).reduced(x.dims())) - 1);
    const Expr one_less = make_call("reshape", {make_call("shape_to_tensor", {make_shape({count})}), make_shape({})});
    return make_call("divide", {make_call("sum", {squares}, std::move(attrs)),
                                make_call("cast", {one_less}, {{"dtype", x.dtype()}})});
  }
  OpFunc f(call);
  const auto how = reduction(call, f.dims(f.in()).size());
  const DType dtype = f.dtype(f.out());
  const DType wide = accumulator(dtype);
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  const auto mean = f.builder().temporary("mean", wide, f.dims(f.out()));
  const auto squares = f.builder().temporary("squares", wide, f.dims(f.out()));
  const auto x = [&](const Indices& i, const Indices& k) { return cast(wide, f.load(f.in(), how.join(i, k))); };
  f.reduce(total, ExprOp::Add, element(wide, 0.0), how.reduced(f.dims(f.in())), x);
  f.compute(mean, [&](const Indices& i) { return f.load(total, i) / reduced_count(f, how, wide); });
  f.reduce(squares, ExprOp::Add, element(wide, 0.0), how.reduced(f.dims(f.in())),
           [&](const Indices& i, const Indices& k) {
             const Element distance = x(i, k) - f.load(mean, i);
             return distance * distance;
           });
  f.compute(f.out(), [&](const Indices& i) {
    const Element count = reduced_count(f, how, wide);
    const Element variance = f.load(squares, i) / (call.flag("unbiased") ? count - 1 : count);
    return cast(dtype, call.op().name == "std" ? apply(ExprOp::Sqrt, variance) : variance);
  });
  return f.finish();
}

}  // namespace ingot::ops
