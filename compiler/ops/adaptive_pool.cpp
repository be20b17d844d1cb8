#include <algorithm>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/layouts.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

// Pooling with as many windows as are wanted: window i of n along m elements is [floor(i * m / n), ceil((i + 1) * m /
// n)).
namespace ingot::ops {

using namespace ir;
using tir::Indices;

namespace {

struct Pooling {
  Operand x;
  bool average;
  std::vector<int64_t> size;  // of the output; empty: as the input
};

std::string_view plain_layout(const CallSite& call) {
  const char rank = call.op().name[call.op().name.size() - 2];
  return rank == '1' ? "NCW" : rank == '2' ? "NCHW" : "NCDHW";
}

Pooling pooling(const CallSite& call) {
  Pooling p{operand(call, 0), call.op().name.find("avg") != std::string_view::npos, {}};
  require_rank(call, p.x, plain_layout(call).size());
  require_numeric(call, p.x);
  if (!call.has_attr("output_size")) return p;
  const size_t spatial = p.x.rank() - 2;
  p.size = call.integers("output_size");
  if (p.size.size() == 1) p.size.resize(spatial, p.size[0]);
  if (p.size.size() != spatial && !p.size.empty())
    call.fail(ErrorCode::InvalidArgument, "output_size has {} numbers, 1 or {} are possible", p.size.size(), spatial);
  for (const int64_t size : p.size)
    if (size < 1 || size > INT32_MAX)
      call.fail(ErrorCode::InvalidArgument, "output_size has {}, it must be between 1 and {}", size, INT32_MAX);
  return p;
}

// The window that divides the input evenly, where there is one.
std::optional<std::vector<int64_t>> even_window(const Pooling& p) {
  std::vector<int64_t> window;
  for (size_t d = 0; d < p.size.size(); ++d) {
    const auto extent = p.x.dims()[2 + d].as_const();
    if (!extent || *extent < 1 || *extent % p.size[d] != 0) return std::nullopt;
    window.push_back(*extent / p.size[d]);
  }
  return window;
}

Meaning loops(const CallSite& call, const Pooling& p) {
  OpFunc f(call);
  const DType dtype = f.dtype(f.out());
  const DType wide = !p.average ? dtype : is_float(dtype) ? accumulator(dtype) : DType::Int64;
  const Dims in = f.dims(f.in()), out = f.dims(f.out());
  const auto begin = [&](size_t d, const PrimExpr& i) { return floor_div(i * in[d], out[d]); };
  const auto end = [&](size_t d, const PrimExpr& i) { return floor_div((i + 1) * in[d] + out[d] - 1, out[d]); };
  Dims reach;
  for (size_t d = 2; d < in.size(); ++d) reach.push_back(simplify(floor_div(in[d] + out[d] - 1, out[d]) + 1));
  const Element neutral = p.average ? element(wide, 0.0) : lowest(dtype);
  const auto total = p.average ? f.builder().temporary("total", wide, out) : f.out();
  f.reduce(total, p.average ? tir::ExprOp::Add : tir::ExprOp::Max, neutral, reach,
           [&](const Indices& i, const Indices& k) {
             Indices at = {i[0], i[1]};
             PrimExpr inside = 1;
             for (size_t d = 2; d < in.size(); ++d) {
               at.push_back(begin(d, i[d]) + k[d - 2]);
               for (const PrimExpr& limit : {in[d], end(d, i[d])}) {
                 const PrimExpr below = PrimExpr::make(PrimOp::Less, {at.back(), limit});
                 inside = inside.is_const(1) ? below : PrimExpr::make(PrimOp::And, {inside, below});
               }
             }
             return select(truth(element(DType::Int64, inside)), cast(wide, f.load(f.in(), at)), neutral);
           });
  if (!p.average) return f.finish();
  f.compute(f.out(), [&](const Indices& i) {
    PrimExpr count = 1;
    for (size_t d = 2; d < in.size(); ++d) count = count * (end(d, i[d]) - begin(d, i[d]));
    const Element n = element(wide, count);
    return cast(dtype, f.load(total, i) / (is_float(wide) ? n : max(n, element(wide, 1.0))));
  });
  return f.finish();
}

}  // namespace

StructInfo infer_adaptive_pool(const CallSite& call) {
  if (in_plain_layouts(call, plain_layout(call))) return infer_composed(call);
  const auto p = pooling(call);
  Dims dims = p.x.dims();
  for (size_t d = 0; d < p.size.size(); ++d) dims[2 + d] = p.size[d];
  return tensor_like(p.x, dims);
}

Meaning define_adaptive_pool(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, plain_layout(call))) return *std::move(plain);
  const auto p = pooling(call);
  if (p.size.empty()) return make_call("identity", {call.arg(0)});
  const bool spatial2 = p.size.size() == 2;
  const std::string kind = p.average ? "avg" : "max";
  const bool whole = std::all_of(p.size.begin(), p.size.end(), [](int64_t size) { return size == 1; });
  if (whole && is_float(p.x.dtype()))
    return make_call(fmt::format("global_{}_pool{}d", kind, p.size.size()), {call.arg(0)});
  const auto window = even_window(p);
  if (!window) return loops(call, p);
  if (spatial2) return make_call(kind + "_pool2d", {call.arg(0)}, {{"pool_size", *window}, {"strides", *window}});
  return make_call("pool_nd", {call.arg(0)}, {{"pool_size", *window}, {"strides", *window}, {"kind", kind}});
}

// Of one and three dimensions.
Meaning define_global_pool(const CallSite& call) {
  if (auto plain = in_plain_layouts(call, plain_layout(call))) return *std::move(plain);
  require_rank(call, operand(call, 0), plain_layout(call).size());
  std::vector<int64_t> along;
  for (size_t d = 2; d < plain_layout(call).size(); ++d) along.push_back(static_cast<int64_t>(d));
  const bool average = call.op().name.find("avg") != std::string_view::npos;
  return make_call(average ? "mean" : "max", {call.arg(0)}, {{"axis", along}, {"keepdims", true}});
}

}  // namespace ingot::ops
