#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "compiler/ops/op_func.h"
#include "compiler/ops/window.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

struct Pooling {
  Operand x;
  Window window;
  bool average, count_include_pad;
  Dims out;
};

Pooling pooling(const CallSite& call) {
  Pooling p{operand(call, 0), {}, call.op().name == "avg_pool2d", false, {}};
  require_rank(call, p.x, 4);
  require_numeric(call, p.x);
  if (p.average) p.count_include_pad = call.flag("count_include_pad");
  p.window.size = pair_attr(call, "pool_size", 1);
  p.window.strides = pair_attr(call, "strides", 1);
  p.window.dilation = pair_attr(call, "dilation", 1);
  p.window.padding = padding_attr(call);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = p.window.reach(d);
    if (p.window.padding[d] >= reach || p.window.padding[d + 2] >= reach)
      call.fail(ErrorCode::InvalidArgument, "padding {} along dimension {} is not less than the window's {}",
                std::max(p.window.padding[d], p.window.padding[d + 2]), d + 2, reach);
  }
  p.out = p.x.dims();
  for (size_t d = 0; d < 2; ++d) p.out[2 + d] = places(call, p.window, d, p.x.dims()[2 + d], call.flag("ceil_mode"));
  return p;
}

KernelCall pool_kernel(const Window& window, bool average, bool count_include_pad) {
  const auto list = [](std::span<const int64_t> values) { return std::vector<int64_t>(values.begin(), values.end()); };
  KernelCall kernel;
  kernel.contract = Contract::pool2d;
  kernel.inputs = 1;
  kernel.set("mode", int64_t{average});
  kernel.set("window", list(window.size));
  kernel.set("strides", list(window.strides));
  kernel.set("padding", list(window.padding));
  kernel.set("dilation", list(window.dilation));
  kernel.set("count_include_pad", int64_t{count_include_pad});
  return kernel;
}

// The loops, for dtypes that the contract does not take.
Meaning loops(const CallSite& call, const Pooling& p) {
  OpFunc f(call);
  const DType dtype = f.dtype(f.out());
  const DType wide = !p.average ? dtype : is_float(dtype) ? accumulator(dtype) : DType::Int64;
  const Dims dims = f.dims(f.in());
  const Dims window = {p.window.size[0], p.window.size[1]};
  for (size_t d = 0; d < 2; ++d) require_reach(f, 2 + d, p.window.reach(d), p.window.padded(d, dims[2 + d]));
  const auto row = [&](const PrimExpr& o, const PrimExpr& k) { return at(p.window, 0, o, k); };
  const auto column = [&](const PrimExpr& o, const PrimExpr& k) { return at(p.window, 1, o, k); };
  const auto inside = [&](const PrimExpr& r, const PrimExpr& c) {
    return truth(element(DType::Int64, PrimExpr::make(PrimOp::And, {within(r, dims[2]), within(c, dims[3])})));
  };
  const auto value = [&](const tir::Indices& i, const tir::Indices& k, const Element& outside) {
    const PrimExpr r = row(i[2], k[0]);
    const PrimExpr c = column(i[3], k[1]);
    return select(inside(r, c), cast(wide, f.load(f.in(), {i[0], i[1], r, c})), outside);
  };
  if (!p.average) {
    f.reduce(f.out(), tir::ExprOp::Max, lowest(dtype), window,
             [&](const tir::Indices& i, const tir::Indices& k) { return value(i, k, lowest(dtype)); });
    return f.finish();
  }
  const auto total = f.builder().temporary("total", wide, f.dims(f.out()));
  const auto count = f.builder().temporary("count", wide, {f.dims(f.out())[2], f.dims(f.out())[3]});
  f.reduce(total, tir::ExprOp::Add, element(wide, 0.0), window,
           [&](const tir::Indices& i, const tir::Indices& k) { return value(i, k, element(wide, 0.0)); });
  f.reduce(count, tir::ExprOp::Add, element(wide, 0.0), window, [&](const tir::Indices& i, const tir::Indices& k) {
    const PrimExpr r = row(i[0], k[0]);
    const PrimExpr c = column(i[1], k[1]);
    const int64_t beyond = p.count_include_pad;
    const auto counted = [&](const PrimExpr& index, size_t d) {
      return PrimExpr::make(PrimOp::And,
                            {PrimExpr::make(PrimOp::LessEqual, {PrimExpr(-p.window.padding[d] * beyond), index}),
                             PrimExpr::make(PrimOp::Less, {index, dims[2 + d] + p.window.padding[d + 2] * beyond})});
    };
    return select(truth(element(DType::Int64, PrimExpr::make(PrimOp::And, {counted(r, 0), counted(c, 1)}))),
                  element(wide, 1.0), 0);
  });
  f.compute(f.out(), [&](const tir::Indices& i) {
    const Element n = f.load(count, {i[2], i[3]});
    return cast(dtype, f.load(total, i) / (is_float(wide) ? n : max(n, element(wide, 1.0))));
  });
  return f.finish();
}

}  // namespace

StructInfo infer_pool2d(const CallSite& call) {
  if (in_plain_layouts(call, "NCHW")) return infer_composed(call);
  const auto p = pooling(call);
  return tensor_like(p.x, p.out);
}

Meaning define_pool2d(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCHW")) return *std::move(plain);
  const auto p = pooling(call);
  if (p.x.dtype() != DType::Float32) return loops(call, p);
  return pool_kernel(p.window, p.average, p.count_include_pad);
}

StructInfo infer_global_pool2d(const CallSite& call) {
  if (in_plain_layouts(call, "NCHW")) return infer_composed(call);
  const auto x = operand(call, 0);
  require_rank(call, x, 4);
  require_numeric(call, x);
  return tensor_like(x, {x.dims()[0], x.dims()[1], 1, 1});
}

Meaning define_global_pool2d(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, "NCHW")) return *std::move(plain);
  const auto x = operand(call, 0);
  const auto height = x.dims()[2].as_const();
  const auto width = x.dims()[3].as_const();
  const bool average = call.op().name == "global_avg_pool2d";
  const auto fits = [](std::optional<int64_t> size) { return size && *size >= 1 && *size <= INT32_MAX; };
  if (x.dtype() == DType::Float32 && fits(height) && fits(width))
    return pool_kernel({{*height, *width}, {1, 1}, {1, 1}, {}}, average, false);
  return make_call(average ? "mean" : "max", {call.arg(0)}, {{"axis", std::vector<int64_t>{2, 3}}, {"keepdims", true}});
}

}  // namespace ingot::ops
