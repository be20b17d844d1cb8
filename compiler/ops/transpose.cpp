#include <algorithm>

#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"

namespace ingot::ops {

using namespace ir;

namespace {

// Dimension d of the result is dimension order[d] of the operand.
std::vector<size_t> order_of(const CallSite& call, const Operand& x) {
  std::vector<size_t> order;
  if (!call.has_attr("axes") || call.integers("axes").empty()) {
    for (size_t d = x.rank(); d > 0; --d) order.push_back(d - 1);
    return order;
  }
  for (const int64_t axis : axes(call, "axes", x.rank())) order.push_back(static_cast<size_t>(axis));
  if (order.size() != x.rank())
    call.fail(ErrorCode::InvalidArgument, "axes names {} dimensions, {} has {}", order.size(), x.name, x.rank());
  return order;
}

}  // namespace

StructInfo infer_transpose(const CallSite& call) {
  const auto x = operand(call, 0);
  Dims dims;
  for (const size_t d : order_of(call, x)) dims.push_back(x.dims()[d]);
  return tensor_like(x, dims);
}

Meaning define_transpose(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto order = order_of(call, x);
  std::vector<size_t> moved;
  for (const size_t d : order)
    if (!x.dims()[d].is_const(1)) moved.push_back(d);
  if (x.rank() == 0) return call.arg(0);
  if (std::is_sorted(moved.begin(), moved.end())) return View{};
  OpFunc f(call);
  f.compute(f.out(), [&](const tir::Indices& i) {
    tir::Indices at(i.size(), PrimExpr(0));
    for (size_t d = 0; d < order.size(); ++d) at[order[d]] = i[d];
    return f.load(f.in(), at);
  });
  return f.finish();
}

}  // namespace ingot::ops
