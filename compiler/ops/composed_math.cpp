#include <cmath>

#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/reduce.h"
#include "runtime/symbolic/simplify.h"

// Operators that are formulas of others.
namespace ingot::ops {

using namespace ir;

namespace {

Attrs reduction_attrs(const CallSite& call) {
  Attrs attrs;
  for (const std::string_view name : {"axis", "keepdims", "exclude"})
    if (const auto found = call.attrs().find(name); found != call.attrs().end())
      attrs[std::string(name)] = found->second;
  return attrs;
}

Expr reduced(const CallSite& call, std::string_view op, const Expr& x, bool keepdims) {
  Attrs attrs = reduction_attrs(call);
  attrs["keepdims"] = keepdims;
  return make_call(op, {x}, std::move(attrs));
}

Expr with(std::string_view op, const Expr& x, DType dtype, double value) {
  return make_call(op, {x, scalar(dtype, value)});
}

}  // namespace

// The greatest element is taken out first, so that exp does not overflow.
Meaning define_logsumexp(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  const Expr greatest = reduced(call, "max", call.arg(0), true);
  const Expr shift =
      make_call("where", {make_call("isfinite", {greatest}), greatest, make_call("zeros_like", {greatest})});
  const Expr sum = reduced(call, "sum", make_call("exp", {make_call("subtract", {call.arg(0), shift})}), true);
  const Expr result = make_call("add", {make_call("log", {sum}), shift});
  const auto how = reduction(call, x.rank());
  return how.keepdims ? result : make_call("reshape", {result, make_shape(how.kept(x.dims()))}, {{"allowzero", true}});
}

// Of "mean_variance" and "mean_std".
Meaning define_mean_and(const CallSite& call) {
  const Attrs attrs = reduction_attrs(call);
  const bool deviation = call.op().name == "mean_std";
  Attrs of_second = attrs;
  if (!deviation) of_second["unbiased"] = call.flag("unbiased");
  return make_tuple({make_call("mean", {call.arg(0)}, attrs),
                     make_call(deviation ? "std" : "variance", {call.arg(0)}, std::move(of_second))});
}

Meaning define_l2_normalize(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  Attrs attrs = {{"keepdims", true}};
  if (call.has_attr("axis")) attrs["axis"] = call.integers("axis");
  const Expr sum = make_call("sum", {make_call("square", {call.arg(0)})}, attrs);
  return make_call("divide", {call.arg(0), make_call("sqrt", {with("maximum", sum, x.dtype(), call.number("eps"))})});
}

// Of "cross_entropy" and "cross_entropy_with_logits": minus the sum over the batch's size.
Meaning define_cross_entropy(const CallSite& call) {
  const auto x = operand(call, 0), targets = operand(call, 1);
  require_float(call, x);
  if (x.rank() != 1) require_rank(call, x, 2);
  require_rank(call, targets, x.rank());
  require_same_dtype(call, x, targets);
  const bool logits = call.op().name == "cross_entropy_with_logits";
  const Expr scores = logits ? call.arg(0) : make_call("log", {call.arg(0)});
  const Expr sum = make_call("sum", {make_call("multiply", {scores, call.arg(1)})});
  if (x.rank() == 1) return make_call("negative", {sum});
  const Expr count =
      make_call("cast", {make_call("size", {taken(call.arg(0), scalar(DType::Int64, 0), 1)})}, {{"dtype", x.dtype()}});
  return make_call("negative", {make_call("divide", {sum, count})});
}

Meaning define_prelu_channels(const CallSite& call) {
  const auto x = operand(call, 0), alpha = operand(call, 1);
  const auto axis = static_cast<size_t>(call.axis("axis", x.rank()));
  if (alpha.rank() != 1) return make_call("prelu", {call.arg(0), call.arg(1)});
  Dims dims(x.rank(), PrimExpr(1));
  dims[axis] = alpha.dims()[0];
  return make_call("prelu",
                   {call.arg(0), make_call("reshape", {call.arg(1), make_shape(dims)}, {{"allowzero", true}})});
}

Meaning define_outer(const CallSite& call) {
  require_rank(call, operand(call, 0), 1);
  require_rank(call, operand(call, 1), 1);
  return make_call("multiply", {make_call("expand_dims", {call.arg(0)}, {{"axis", int64_t{1}}}),
                                make_call("expand_dims", {call.arg(1)}, {{"axis", int64_t{0}}})});
}

Meaning define_vecdot(const CallSite& call) {
  return make_call("sum", {make_call("multiply", {call.arg(0), call.arg(1)})}, {{"axis", call.integer("axis")}});
}

// softmax(q k^T * scale + bias) v for q, k and v of (batch, length, heads, size); bias is added before the softmax.
Meaning define_attention(const CallSite& call) {
  const auto q = operand(call, 0), k = operand(call, 1), v = operand(call, 2);
  require_float(call, q);
  for (const auto* x : {&q, &k, &v}) {
    require_rank(call, *x, 4);
    require_same_dtype(call, q, *x);
  }
  const auto size = q.dims()[3].as_const();
  if (!size && !call.has_attr("scale"))
    call.fail(ErrorCode::Unsupported, "dimension 3 of {} is {}; give the scale", q.name, to_text(q.dims()[3]));
  const double scale = call.has_attr("scale") ? call.number("scale") : 1 / std::sqrt(static_cast<double>(*size));
  const auto heads_first = [](const Expr& x) {
    return make_call("transpose", {x}, {{"axes", std::vector<int64_t>{0, 2, 1, 3}}});
  };
  Expr scores = make_call("matmul", {heads_first(call.arg(0)), heads_first(call.arg(1))}, {{"transpose_b", true}});
  scores = with("multiply", scores, q.dtype(), scale);
  if (given(call, 3)) scores = make_call("add", {scores, call.arg(3)});
  if (call.has_attr("causal_mask")) {
    const std::string corner = call.text("causal_mask");
    if (corner != "TopLeft" && corner != "BottomRight")
      call.fail(ErrorCode::InvalidArgument, "causal_mask is \"{}\", possible are \"TopLeft\" and \"BottomRight\"",
                corner);
    const auto rows = q.dims()[1].as_const(), columns = k.dims()[1].as_const();
    if (corner == "BottomRight" && (!rows || !columns))
      call.fail(ErrorCode::Unsupported, "causal_mask \"BottomRight\" needs known lengths");
    const int64_t diagonal = corner == "BottomRight" ? *columns - *rows : 0;
    const Expr ones = make_call("ones", {make_shape({q.dims()[1], k.dims()[1]})}, {{"dtype", DType::Bool}});
    const Expr seen = make_call("tril", {ones}, {{"k", diagonal}});
    scores = make_call("where", {seen, scores, scalar(q.dtype(), -INFINITY)});
  }
  return heads_first(
      make_call("matmul", {make_call("softmax", {scores}, {{"axis", int64_t{-1}}}), heads_first(call.arg(2))}));
}

namespace {

// A vector brought beside dimension `axis` of a tensor of this rank; scalars stay.
Expr along(const CallSite& call, size_t i, int64_t axis, size_t rank) {
  const auto x = operand(call, i);
  if (x.rank() == 0) return call.arg(i);
  require_rank(call, x, rank == 0 ? 0 : 1);
  Dims dims(rank, PrimExpr(1));
  dims[static_cast<size_t>(axis)] = x.dims()[0];
  return make_call("reshape", {call.arg(i), make_shape(dims)}, {{"allowzero", true}});
}

}  // namespace

// round(x / scale) + zero point, brought into the range of the result.
Meaning define_quantize(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  const DType to = call.dtype_attr("out_dtype");
  if (!is_integer(to) || (dtype_bytes(to) > 2 && to != DType::Int32))
    call.fail(ErrorCode::Unsupported, "out_dtype is {}, possible are int8, uint8, int16, uint16 and int32",
              dtype_name(to));
  const int64_t axis = x.rank() == 0 ? 0 : call.axis("axis", x.rank());
  const Expr scaled = make_call("round", {make_call("divide", {call.arg(0), along(call, 1, axis, x.rank())})});
  const Expr zero = make_call("cast", {along(call, 2, axis, x.rank())}, {{"dtype", x.dtype()}});
  const Expr sum = make_call("add", {scaled, zero});
  if (to == DType::Int32) return make_call("cast", {sum}, {{"dtype", to}});  // saturates
  const int bits = 8 * static_cast<int>(dtype_bytes(to));
  const double low = is_signed_int(to) ? -std::exp2(bits - 1) : 0;
  const double high = is_signed_int(to) ? std::exp2(bits - 1) - 1 : std::exp2(bits) - 1;
  return make_call("cast", {make_call("clip", {sum}, {{"a_min", low}, {"a_max", high}})}, {{"dtype", to}});
}

// (x - zero point) * scale.
Meaning define_dequantize(const CallSite& call) {
  const auto x = operand(call, 0), scale = operand(call, 1);
  require_integer(call, x);
  require_float(call, scale);
  const int64_t axis = x.rank() == 0 ? 0 : call.axis("axis", x.rank());
  const auto wide = [](const Expr& e) { return make_call("cast", {e}, {{"dtype", DType::Int32}}); };
  const Expr difference = make_call("subtract", {wide(call.arg(0)), wide(along(call, 2, axis, x.rank()))});
  const Expr real = make_call("cast", {difference}, {{"dtype", scale.dtype()}});
  const Expr result = make_call("multiply", {real, along(call, 1, axis, x.rank())});
  const DType to = call.dtype_attr("out_dtype");
  return to == scale.dtype() ? result : make_call("cast", {result}, {{"dtype", to}});
}

}  // namespace ingot::ops
