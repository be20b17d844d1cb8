#include "compiler/ops/composed.h"
#include "compiler/ops/functions.h"
#include "runtime/symbolic/simplify.h"

// Attention of sequences that lie one behind the other in one batch.
namespace ingot::ops {

using namespace ir;

namespace {

// Of each place: which sequence it belongs to, and how far it is from the sequence's first place, or from its end.
struct Places {
  Expr sequence, distance;
};

Places places(const Expr& begins, const PrimExpr& count, bool from_end) {
  const Expr place = make_call("arange", {make_prim(count)}, {{"dtype", DType::Int64}});
  const Expr sequence = make_call("searchsorted", {begins, place}, {{"right", true}, {"dtype", DType::Int64}});
  const Expr edge = from_end ? sequence : of("subtract", sequence, scalar(DType::Int64, 1));
  const Expr at = make_call("take", {begins, edge}, {{"axis", int64_t{0}}, {"mode", std::string("clip")}});
  return {sequence, of("subtract", place, at)};
}

Expr beside(const Expr& x, int64_t axis) { return make_call("expand_dims", {x}, {{"axis", axis}}); }

}  // namespace

Meaning define_attention_var_len(const CallSite& call) {
  const auto q = operand(call, 0), k = operand(call, 1);
  require_float(call, q);
  for (const auto* x : {&q, &k}) {
    require_rank(call, *x, 4);
    if (differ(call, x->dims()[0], 1))
      call.fail(ErrorCode::ShapeMismatch, "{} must hold all sequences in one batch, it has {}", x->name,
                to_text(x->dims()[0]));
  }
  const size_t of_keys = given(call, 5) ? 5 : 3;
  for (const size_t i : {size_t{3}, of_keys}) {
    require_integer(call, operand(call, i));
    require_rank(call, operand(call, i), 1);
  }
  const std::string mask = call.has_attr("causal_mask") ? call.text("causal_mask") : "";
  if (!mask.empty() && mask != "TopLeft" && mask != "BottomRight")
    call.fail(ErrorCode::InvalidArgument, "causal_mask is \"{}\", possible are \"TopLeft\" and \"BottomRight\"", mask);
  const auto wide = [&](size_t i) { return make_call("cast", {call.arg(i)}, {{"dtype", DType::Int64}}); };
  const bool from_end = mask == "BottomRight";
  const Places rows = places(wide(3), q.dims()[1], from_end), columns = places(wide(of_keys), k.dims()[1], from_end);
  Expr seen = of("equal", beside(rows.sequence, 1), beside(columns.sequence, 0));
  if (!mask.empty())
    seen = of("logical_and", seen, of("less_equal", beside(columns.distance, 0), beside(rows.distance, 1)));
  const Expr hidden = scalar(q.dtype(), q.dtype() == DType::Float16 ? -65504 : -3e38);
  const Expr bias = make_call("where", {seen, scalar(q.dtype(), 0), hidden});
  Attrs attrs;
  if (call.has_attr("scale")) attrs["scale"] = call.number("scale");
  return make_call("attention", {call.arg(0), call.arg(1), call.arg(2), beside(beside(bias, 0), 0)}, std::move(attrs));
}

}  // namespace ingot::ops
