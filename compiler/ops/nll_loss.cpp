#include "compiler/ops/nll_loss.h"

#include "compiler/ops/call.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/operands.h"

namespace ingot::ops {

using namespace ir;

std::string nll_reduction(const CallSite& call, const Operand& predictions, const Operand& targets) {
  if (predictions.rank() == 0)
    call.fail(ErrorCode::ShapeMismatch, "{} is a scalar, it has no classes", predictions.name);
  require_rank(call, targets, predictions.rank() - 1);
  for (size_t d = 0; d < targets.rank(); ++d)
    demand_equal(call, "shapes", predictions, predictions.dims()[d == 0 ? 0 : d + 1], targets, targets.dims()[d]);
  const std::string reduction = call.text("reduction");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    call.fail(ErrorCode::InvalidArgument, "reduction is \"{}\", possible are \"none\", \"mean\" and \"sum\"",
              reduction);
  return reduction;
}

// predictions [N, C, ...] or [C], targets [N, ...] or (), weights [C].
Meaning define_nll_loss(const CallSite& call) {
  const auto predictions = operand(call, 0), targets = operand(call, 1);
  require_float(call, predictions);
  require_integer(call, targets);
  const std::string reduction = nll_reduction(call, predictions, targets);
  const bool alone = predictions.rank() == 1;
  const DType dtype = predictions.dtype();
  const auto expanded = [](const Expr& x, int64_t axis) { return make_call("expand_dims", {x}, {{"axis", axis}}); };
  const Expr scores = alone ? expanded(call.arg(0), 0) : call.arg(0);
  const Expr labels = make_call("cast", {alone ? expanded(call.arg(1), 0) : call.arg(1)}, {{"dtype", DType::Int64}});
  const auto ignored_label = static_cast<double>(call.integer("ignore_index"));
  const Expr ignored = make_call("equal", {labels, scalar(DType::Int64, ignored_label)});
  const Expr classes = make_call("where", {ignored, scalar(DType::Int64, 0), labels});
  const Expr picked =
      make_call("squeeze", {make_call("gather_elements", {scores, expanded(classes, 1)}, {{"axis", int64_t{1}}})},
                {{"axis", int64_t{1}}});
  Expr weights = make_call("cast", {make_call("logical_not", {ignored})}, {{"dtype", dtype}});
  if (given(call, 2)) {
    require_same_dtype(call, predictions, operand(call, 2));
    const auto given_weights = operand(call, 2);
    require_rank(call, given_weights, 1);
    demand_equal(call, "numbers of classes", predictions, predictions.dims()[alone ? 0 : 1], given_weights,
                 given_weights.dims()[0]);
    const Expr chosen = taken(call.arg(2), classes, 0);
    weights = make_call("where", {ignored, scalar(dtype, 0), chosen});
  }
  Expr loss = make_call("negative", {make_call("multiply", {picked, weights})});
  loss = make_call("where", {ignored, scalar(dtype, 0), loss});
  if (reduction == "none") return alone ? make_call("squeeze", {loss}, {{"axis", int64_t{0}}}) : loss;
  const Expr sum = make_call("sum", {loss});
  return reduction == "sum" ? sum : make_call("divide", {sum, make_call("sum", {weights})});
}

}  // namespace ingot::ops
