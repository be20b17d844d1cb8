#include <algorithm>
#include <limits>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::onnx_import {
namespace {

using Values = std::optional<Dims>;

// Arithmetic on elements that are known as expressions of dimensions; nothing where they are not, or for other
// operators.
Values fold_values(std::string_view op, const Typed& x, const Typed& y) {
  if (!is_integer(x.dtype()) || x.dtype() != y.dtype()) return std::nullopt;
  const auto a = known_values(x), b = known_values(y);
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
  Dims result;
  const size_t count = a->empty() || b->empty() ? 0 : std::max(a->size(), b->size());
  for (size_t i = 0; i < count; ++i) {
    const PrimExpr& p = (*a)[a->size() == 1 ? 0 : i];
    const PrimExpr& q = (*b)[b->size() == 1 ? 0 : i];
    const bool divides = prove_less(0, q) == Proof::Yes;
    if (op == "add") {
      result.push_back(p + q);
    } else if (op == "subtract") {
      result.push_back(p - q);
    } else if (op == "multiply") {
      result.push_back(p * q);
    } else if (op == "minimum") {
      result.push_back(min(p, q));
    } else if (op == "maximum") {
      result.push_back(max(p, q));
    } else if (op == "divide" && divides && prove_less_equal(0, p) == Proof::Yes) {
      result.push_back(floor_div(p, q));
    } else if (op == "floor_mod" && divides) {
      result.push_back(floor_mod(p, q));
    } else if (op == "equal" || op == "less" || op == "greater") {
      const Proof proof = op == "equal" ? prove_equal(p, q) : op == "less" ? prove_less(p, q) : prove_less(q, p);
      if (proof == Proof::Unknown) return std::nullopt;
      result.emplace_back(proof == Proof::Yes ? 1 : 0);
    } else {
      return std::nullopt;
    }
    result.back() = simplify(result.back());
  }
  return result;
}

Typed binary(const Node& node, std::string_view op, const Typed& x, const Typed& y) {
  if (const bool compares = op == "equal" || op == "less" || op == "greater";
      x.is_tensor() && y.is_tensor() && x.info->dims && y.info->dims)
    if (auto values = fold_values(op, x, y))
      return node.builder().tensor_of(*std::move(values), std::max(x.rank(), y.rank()),
                                      compares ? DType::Bool : x.dtype());
  return node.builder().call(op, {x, y});
}

Results fold(const Node& node, std::string_view op) {
  Typed result = node.input(0);
  for (size_t i = 1; i < node.inputs(); ++i) result = binary(node, op, result, node.input(i));
  return {result};
}

// Before opset 7 the second operand is aligned by hand: it covers dimensions `axis` and following of the first.
Typed aligned(const Node& node, const Typed& left, Typed right) {
  if (node.opset() >= 7 || node.integer("broadcast", 0) == 0 || node.find("axis") == nullptr) return right;
  const int64_t axis = node.axis(node.integer("axis", 0), left.rank());
  const auto behind = static_cast<int64_t>(left.rank()) - axis - static_cast<int64_t>(right.rank());
  if (behind < 0)
    fail(ErrorCode::ShapeMismatch, "input 1 of rank {} does not fit at axis {} of rank {}", right.rank(), axis,
         left.rank());
  if (behind > 0)
    right = node.builder().call("expand_dims", {right},
                                {{"axis", static_cast<int64_t>(right.rank())}, {"num_newaxis", behind}});
  return right;
}

}  // namespace

Results convert_same(const Node& node, std::string_view op) { return {node.builder().call(op, node.all_inputs())}; }

Results convert_binary(const Node& node, std::string_view op) {
  const Typed& x = node.input(0);
  if (x.dtype() == DType::String && op == "equal")
    return {node.builder().builtin(
        "string_equal", {x, node.input(1)},
        tensor_info(DType::Bool, static_cast<uint32_t>(std::max(x.rank(), node.input(1).rank()))))};
  return {binary(node, op, x, aligned(node, x, node.input(1)))};
}

Results convert_identity(const Node& node) { return {node.input(0)}; }

Results convert_sum(const Node& node) { return fold(node, "add"); }
Results convert_max(const Node& node) { return fold(node, "maximum"); }
Results convert_min(const Node& node) { return fold(node, "minimum"); }
Results convert_mean(const Node& node) {
  return {node.builder().call("divide", fold(node, "add")[0], static_cast<double>(node.inputs()))};
}

Results convert_neg(const Node& node) {
  const Typed& x = node.input(0);
  if (auto values = is_float(x.dtype()) ? std::nullopt : known_values(x); values && x.info->dims) {
    for (auto& value : *values) value = PrimExpr(0) - value;
    return {node.builder().tensor_of(*std::move(values), x.rank(), x.dtype())};
  }
  return convert_same(node, "negative");
}

Results convert_abs(const Node& node) {
  const Typed& x = node.input(0);
  if (auto values = is_integer(x.dtype()) ? x.values : std::nullopt; values && x.info->dims) {
    for (auto& value : *values) value = max(value, PrimExpr(0) - value);
    return {node.builder().tensor_of(*std::move(values), x.rank(), x.dtype())};
  }
  return convert_same(node, "abs");
}

Results convert_not(const Node& node) {
  const Typed& x = node.input(0);
  if (auto values = known_values(x); values && x.info->dims) {
    for (auto& value : *values) {
      if (!value.as_const()) return convert_same(node, "logical_not");
      value = PrimExpr(*value.as_const() == 0 ? 1 : 0);
    }
    return {node.builder().tensor_of(*std::move(values), x.rank(), DType::Bool)};
  }
  return convert_same(node, "logical_not");
}

// The result has the dtype of the base; other exponents are brought to it, or both to one that holds them.
Results convert_pow(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const Typed y = aligned(node, x, node.input(1));
  if (x.dtype() == y.dtype()) return {b.call("power", {x, y})};
  if (is_float(x.dtype())) return {b.call("power", {x, b.cast(y, x.dtype())})};
  return {b.cast(b.call("power", {b.cast(x, DType::Float64), b.cast(y, DType::Float64)}), x.dtype())};
}

// Elements of shapes are selected now.
Results convert_where(const Node& node) {
  const Typed &x = node.input(1), &y = node.input(2);
  const bool shaped = x.is_tensor() && y.is_tensor() && x.info->dims && y.info->dims && is_integer(x.dtype()) &&
                      x.dtype() == y.dtype() && node.input(0).info->dims;
  const auto condition = shaped ? known_integers(node.input(0)) : std::nullopt;
  const auto a = condition ? known_values(x) : std::nullopt, b = condition ? known_values(y) : std::nullopt;
  if (!a || !b) return convert_same(node, "where");
  const size_t count = std::max({condition->size(), a->size(), b->size()});
  const auto at = [&](const auto& list, size_t i) { return list[list.size() == 1 ? 0 : i]; };
  for (const size_t size : {condition->size(), a->size(), b->size()})
    if (size != count && size != 1) return convert_same(node, "where");
  Dims values;
  for (size_t i = 0; i < count; ++i) values.push_back(at(*condition, i) != 0 ? at(*a, i) : at(*b, i));
  return {node.builder().tensor_of(std::move(values), std::max({node.input(0).rank(), x.rank(), y.rank()}), x.dtype())};
}

Results convert_mod(const Node& node) {
  const bool truncates = node.flag("fmod");
  if (!truncates && is_float(node.input(0).dtype()))
    fail(ErrorCode::InvalidArgument, "fmod must be 1 for {}", dtype_name(node.input(0).dtype()));
  return {binary(node, truncates ? "mod" : "floor_mod", node.input(0), node.input(1))};
}

// A count of the width or more leaves nothing, in both directions.
Results convert_bit_shift(const Node& node) {
  const std::string direction = node.choice("direction", "", {"LEFT", "RIGHT"});
  return {node.builder().call(direction == "LEFT" ? "left_shift" : "right_shift", {node.input(0), node.input(1)})};
}

namespace {

// Of 16-bit floats in float32, rounded once: steps that cancel would lose bits.
Typed in_float32(GraphBuilder& b, std::string_view op, const Typed& x, ir::Attrs attrs = {}) {
  if (!is_float(x.dtype()) || dtype_bytes(x.dtype()) >= 4) return b.call(op, {x}, std::move(attrs));
  return b.cast(b.call(op, {b.cast(x, DType::Float32)}, std::move(attrs)), x.dtype());
}

}  // namespace

Results convert_leaky_relu(const Node& node) {
  return {node.builder().call("leaky_relu", {node.input(0)}, {{"alpha", node.number("alpha", 0.01)}})};
}
Results convert_elu(const Node& node) {
  return {in_float32(node.builder(), "elu", node.input(0), {{"alpha", node.number("alpha", 1.0)}})};
}
Results convert_celu(const Node& node) {
  return {in_float32(node.builder(), "celu", node.input(0), {{"alpha", node.number("alpha", 1.0)}})};
}
Results convert_selu(const Node& node) {
  const bool old = node.opset() < 6;
  return {in_float32(node.builder(), "selu", node.input(0),
                     {{"alpha", node.number("alpha", old ? 1.6732 : 1.6732632423543772)},
                      {"gamma", node.number("gamma", old ? 1.0507 : 1.0507009873554805)}})};
}
Results convert_hard_sigmoid(const Node& node) {
  return {node.builder().call("hard_sigmoid", {node.input(0)},
                              {{"alpha", node.number("alpha", 0.2)}, {"beta", node.number("beta", 0.5)}})};
}
Results convert_thresholded_relu(const Node& node) {
  return {node.builder().call("thresholded_relu", {node.input(0)}, {{"alpha", node.number("alpha", 1.0)}})};
}
Results convert_gelu(const Node& node) {
  return {in_float32(node.builder(),
                     node.choice("approximate", "none", {"none", "tanh"}) == "tanh" ? "gelu_tanh" : "gelu",
                     node.input(0))};
}
Results convert_swish(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  return {b.multiply(x, b.call("sigmoid", {b.call("multiply", x, node.number("alpha", 1.0))}))};
}
Results convert_swi_glu(const Node& node) { return {node.builder().multiply(convert_swish(node)[0], node.input(1))}; }

Results convert_shrink(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const double lambd = node.number("lambd", 0.5), bias = node.number("bias", 0.0);
  const Typed below = b.call("where", {b.call("less", x, -lambd), b.call("add", x, bias), b.scalar(x.dtype(), 0)});
  return {b.call("where", {b.call("greater", x, lambd), b.call("subtract", x, bias), below})};
}

// The slope is aligned with the first dimensions of channels before opset 7.
Results convert_prelu(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  Typed slope = node.input(1);
  if (slope.rank() == 1 && x.rank() > 2 && !slope.dim(0).is_const(1) && node.opset() < 7)
    slope = b.call("expand_dims", {slope}, {{"axis", int64_t{1}}, {"num_newaxis", static_cast<int64_t>(x.rank()) - 2}});
  if (is_float(x.dtype())) return {b.call("prelu", {x, slope})};
  return {b.call("where", {b.call("less", x, 0.0), b.multiply(x, slope), x})};
}

Results convert_is_inf(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const bool negative = node.flag("detect_negative", true), positive = node.flag("detect_positive", true);
  const Typed infinite = b.call("isinf", {x});
  if (negative && positive) return {infinite};
  if (!negative && !positive) return {b.call("logical_and", {infinite, b.scalar(DType::Bool, 0)})};
  return {b.call("logical_and", {infinite, b.call(positive ? "greater" : "less", x, 0.0)})};
}

Results convert_clip(const Node& node) {
  auto& b = node.builder();
  Typed x = node.input(0);
  if (node.opset() < 11) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {b.call("clip", {x}, {{"a_min", node.number("min", -kInfinity)}, {"a_max", node.number("max", kInfinity)}})};
  }
  const auto low = node.has(1) ? known_number(node.input(1)) : -std::numeric_limits<double>::infinity();
  const auto high = node.has(2) ? known_number(node.input(2)) : std::numeric_limits<double>::infinity();
  if (low && high && *low <= *high && is_float(x.dtype()))
    return {b.call("clip", {x}, {{"a_min", *low}, {"a_max", *high}})};
  // Of bounds that cross, the upper one holds.
  if (node.has(1)) x = b.call("maximum", {x, b.reshape(node.input(1), {})});
  if (node.has(2)) x = b.call("minimum", {x, b.reshape(node.input(2), {})});
  return {x};
}

namespace {

// What the standard leaves open its reference has changed: before opset 24 floats saturate in integers of a few bits,
// and NaN is the greatest float4, 6.
Typed before_opset_24(const Node& node, const Typed& x, int32_t type) {
  auto& b = node.builder();
  if (node.opset() >= 24 || !is_float(x.dtype())) return x;
  if (const auto range = stored_range(type))
    return b.call("clip", {b.call("round", {x})}, {{"a_min", range->low}, {"a_max", range->high}});
  if (!is_float4(type)) return x;
  return b.call("where", {b.call("isnan", {x}), b.scalar(x.dtype(), 6), x});
}

Typed converted(const Node& node, const Typed& x, int32_t type) {
  auto& b = node.builder();
  const DType dtype = dtype_of(type);
  if (x.dtype() == DType::String || dtype == DType::String) {
    if (x.dtype() == dtype) return x;
    return b.builtin("cast_string",
                     {x, b.scalar(dtype == DType::String ? DType::Float32 : dtype, 0), b.prim(dtype == DType::String)},
                     tensor_info(dtype, x.dims()));
  }
  if (stores_only(type))
    return b.builtin("round_to",
                     {before_opset_24(node, x, type), b.prim(type), b.prim(node.flag("saturate", true)),
                      b.text(node.choice("round_mode", "up", {"up", "down", "nearest"}))},
                     tensor_info(dtype, x.dims()));
  // Dimensions fit 32 bits; fewer may lose some of theirs.
  if (x.values && is_integer(dtype) && dtype_bytes(dtype) >= 4) return b.tensor_of(*x.values, x.rank(), dtype);
  if (const auto known = known_integers(x); known && dtype == DType::Bool) {
    Dims values;
    for (const int64_t value : *known) values.emplace_back(value != 0 ? 1 : 0);
    return b.tensor_of(std::move(values), x.rank(), dtype);
  }
  return b.cast(x, dtype);
}

}  // namespace

Results convert_cast(const Node& node) {
  const auto type = node.element_type("to");
  Typed result = converted(node, node.input(0), type);
  result.stored = stores_only(type) ? type : 0;
  return {result};
}

Results convert_bit_cast(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto type = node.element_type("to");
  const DType dtype = dtype_of(type);
  if (stores_only(type) || x.stored != 0) fail(ErrorCode::Unsupported, "the bits of types that only store numbers");
  return {b.builtin("bit_cast", {x, b.scalar(dtype, 0)}, tensor_info(dtype, x.dims()))};
}

Results convert_cast_like(const Node& node) {
  const DType dtype = node.input(1).dtype();
  const Typed& x = node.input(0);
  if (const int32_t stored = node.storage_type(1); stored != 0) {
    Typed result = converted(node, x, stored);
    result.stored = stored;
    return {result};
  }
  if (dtype == DType::String || x.dtype() == DType::String) return {converted(node, x, onnx_type_of(dtype))};
  return {node.builder().cast(x, dtype)};
}

}  // namespace ingot::onnx_import
