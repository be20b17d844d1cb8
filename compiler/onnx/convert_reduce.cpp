#include <algorithm>

#include "compiler/onnx/conversions.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

using Axes = std::vector<int64_t>;

// A reduction along known axes.
Typed along(GraphBuilder& b, std::string_view kind, const Typed& given, const Axes& axes, bool keepdims) {
  const auto reduce = [&](std::string_view op, const Typed& x, bool keep) {
    return b.call(op, {x}, {{"axis", axes}, {"keepdims", keep}});
  };
  const bool roots = kind == "l2" || kind == "log_sum" || kind == "log_sum_exp" || kind == "mean";
  const DType dtype = given.dtype();
  Typed x = given;
  if (dtype == DType::Bool) x = b.cast(x, DType::UInt8);
  if (roots && is_integer(x.dtype())) x = b.cast(x, DType::Float64);
  Typed result;
  if (kind == "l1") {
    result = reduce("sum", b.call("abs", {x}), keepdims);
  } else if (kind == "l2") {
    result = b.call("sqrt", {reduce("sum", b.multiply(x, x), keepdims)});
  } else if (kind == "sum_square") {
    result = reduce("sum", b.multiply(x, x), keepdims);
  } else if (kind == "log_sum") {
    result = b.call("log", {reduce("sum", x, keepdims)});
  } else if (kind == "log_sum_exp") {
    // The greatest is taken out, unless it is infinite: then exponentials are what they are.
    const Typed top = reduce("max", x, true);
    const Typed base = b.call("where", {b.call("isfinite", {top}), top, b.scalar(x.dtype(), 0)});
    const Typed sum = reduce("sum", b.call("exp", {b.subtract(x, base)}), keepdims);
    result = b.add(b.call("log", {sum}), keepdims ? base : b.call("squeeze", {base}, {{"axis", axes}}));
  } else {
    result = reduce(kind, x, keepdims);
  }
  return b.cast(result, dtype);
}

// A reduction along no axis: what is done to each element stays.
Typed each(GraphBuilder& b, std::string_view kind, const Typed& x) {
  if (kind == "l1" || kind == "l2") return b.call("abs", {x});
  if (kind == "sum_square") return b.multiply(x, x);
  if (kind == "log_sum") return b.cast(b.call("log", {is_float(x.dtype()) ? x : b.cast(x, DType::Float64)}), x.dtype());
  return x;
}

Results reduce(const Node& node, std::string_view kind) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const bool keepdims = node.flag("keepdims", true), keep_all = node.flag("noop_with_empty_axes");
  const auto rank = static_cast<int64_t>(x.rank());
  auto axes = node.integers("axes", 1);
  if (!axes && node.has(1)) {
    const bool all = node.length(1) == 0;
    const Typed keep = b.prim(keepdims ? 1 : 0), none = b.prim(keep_all ? 1 : 0);
    const Typed matrix = b.builtin("to_matrix", {x, node.input(1), none}, tensor_info(x.dtype(), 2));
    const int64_t reduced = all ? (keep_all ? 0 : rank) : static_cast<int64_t>(node.length(1));
    if (reduced > rank) fail(ErrorCode::ShapeMismatch, "{} axes for rank {}", reduced, rank);
    const Typed shape = b.builtin("reduced_shape", {x, node.input(1), keep, none},
                                  shape_info(static_cast<uint32_t>(keepdims ? rank : rank - reduced)));
    return {b.call("reshape", {along(b, kind, matrix, {1}, false), shape})};
  }
  if (!axes || axes->empty()) {
    if (keep_all && (axes || node.opset() >= 13)) return {each(b, kind, x)};
    axes = Axes{};
    for (int64_t axis = 0; axis < rank; ++axis) axes->push_back(axis);
  }
  for (auto& axis : *axes) axis = node.axis(axis, x.rank());
  std::ranges::sort(*axes);
  return {along(b, kind, x, *axes, keepdims)};
}

// The elements of a shape, in one.
std::optional<Typed> reduced_values(const Node& node, std::string_view kind) {
  const Typed& x = node.input(0);
  if (!x.is_tensor() || x.info->rank != 1u || !is_integer(x.dtype()) || node.flag("noop_with_empty_axes"))
    return std::nullopt;
  const auto values = known_values(x);
  if (!values || values->empty() || (node.has(1) && !node.known(1))) return std::nullopt;
  PrimExpr result = values->front();
  for (size_t i = 1; i < values->size(); ++i) {
    const PrimExpr& next = (*values)[i];
    result = kind == "prod"  ? result * next
             : kind == "sum" ? result + next
             : kind == "max" ? max(result, next)
                             : min(result, next);
  }
  return node.builder().tensor_of({result}, node.flag("keepdims", true) ? 1 : 0, x.dtype());
}

Results reduce_shape(const Node& node, std::string_view kind) {
  if (auto result = reduced_values(node, kind)) return {*std::move(result)};
  return reduce(node, kind);
}

Results arg_reduce(const Node& node, std::string_view op) {
  const Typed& x = node.input(0);
  return {node.builder().call(op, {x},
                              {{"axis", std::vector{node.axis(node.integer("axis", 0), x.rank())}},
                               {"keepdims", node.flag("keepdims", true)},
                               {"select_last_index", node.flag("select_last_index")}})};
}

}  // namespace

Results convert_reduce_max(const Node& node) { return reduce_shape(node, "max"); }
Results convert_reduce_min(const Node& node) { return reduce_shape(node, "min"); }
Results convert_reduce_sum(const Node& node) { return reduce_shape(node, "sum"); }
Results convert_reduce_mean(const Node& node) { return reduce(node, "mean"); }
Results convert_reduce_prod(const Node& node) { return reduce_shape(node, "prod"); }
Results convert_reduce_l1(const Node& node) { return reduce(node, "l1"); }
Results convert_reduce_l2(const Node& node) { return reduce(node, "l2"); }
Results convert_reduce_log_sum(const Node& node) { return reduce(node, "log_sum"); }
Results convert_reduce_log_sum_exp(const Node& node) { return reduce(node, "log_sum_exp"); }
Results convert_reduce_sum_square(const Node& node) { return reduce(node, "sum_square"); }
Results convert_arg_max(const Node& node) { return arg_reduce(node, "argmax"); }
Results convert_arg_min(const Node& node) { return arg_reduce(node, "argmin"); }

Results convert_cum_prod(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  return {b.builtin("cumulate",
                    {x, node.input(1), b.prim(node.flag("exclusive")), b.prim(node.flag("reverse")), b.prim(1)},
                    tensor_info(x.dtype(), x.dims()))};
}

Results convert_cum_sum(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const bool exclusive = node.flag("exclusive"), reverse = node.flag("reverse");
  if (const auto axis = node.known(1); axis && axis->size() == 1)
    return {b.call("cumsum", {x},
                   {{"axis", node.axis(axis->front(), x.rank())}, {"exclusive", exclusive}, {"reverse", reverse}})};
  return {
      b.builtin("cumulate", {x, node.input(1), b.prim(exclusive), b.prim(reverse)}, tensor_info(x.dtype(), x.dims()))};
}

}  // namespace ingot::onnx_import
