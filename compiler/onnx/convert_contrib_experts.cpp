#include <functional>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/quantized.h"
#include "compiler/ops/operands.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Mixtures of experts of com.microsoft. All experts see all tokens: which ones count is only known as the model runs.
namespace ingot::onnx_import {
namespace {

// x of each expert [experts, tokens, width] after its activation; `gates` is the product with the third weights.
Typed activated(const Node& node, const Typed& x, const std::function<Typed()>& gates) {
  auto& b = node.builder();
  const std::string kind = node.choice("activation_type", "relu", {"relu", "gelu", "silu", "swiglu", "identity"});
  if (kind == "identity") return x;
  if (kind == "gelu") return b.call("gelu_tanh", {x});
  if (kind == "relu" || kind == "silu") return b.call(kind, {x});
  const int64_t fusion = node.integer("swiglu_fusion", 0, 0, 2);
  const auto width = x.dim(2).as_const();
  if (!width) fail(ErrorCode::Unsupported, "the width of the weights must be known, it is {}", to_text(x.dim(2)));
  Typed gate = x, linear;
  if (fusion == 0) {
    linear = gates();
  } else if (fusion == 1) {
    const Typed pairs = b.reshape(x, {x.dim(0), x.dim(1), PrimExpr(*width / 2), PrimExpr(2)});
    gate = b.squeeze(b.part(pairs, 3, 0, 1), 3);
    linear = b.squeeze(b.part(pairs, 3, 1, 2), 3);
  } else {
    gate = b.part(x, 2, 0, *width / 2);
    linear = b.part(x, 2, *width / 2, *width);
  }
  if (node.find("swiglu_limit") != nullptr) {
    const double limit = node.number("swiglu_limit", 0);
    gate = b.call("minimum", gate, limit);
    linear = b.call("clip", {linear}, {{"a_min", -limit}, {"a_max", limit}});
  }
  const Typed opened = b.call("sigmoid", {b.call("multiply", gate, node.number("activation_alpha", 1))});
  return b.multiply(b.multiply(gate, opened), b.call("add", linear, node.number("activation_beta", 0)));
}

// How much each expert adds to each token [tokens, experts]: the probabilities of the first k, zero for the others.
Typed shares(const Node& node, const std::optional<Typed>& weights) {
  auto& b = node.builder();
  if (node.flag("use_sparse_mixer")) fail(ErrorCode::Unsupported, "attribute use_sparse_mixer is 1");
  const Typed scores = b.cast(node.input(1), DType::Float32);
  const int64_t count = node.integer("k", 1, 1, scores.dim(1).as_const().value_or(INT32_MAX));
  const Typed all = weights ? b.cast(*weights, DType::Float32) : b.call("softmax", {scores}, {{"axis", int64_t{1}}});
  const Dims dims = {scores.dim(0), PrimExpr(count)};
  const Typed both = b.builtin("top_k", {scores, b.integers({count}), b.prim(1), b.prim(1), b.prim(1)}, object_info());
  const Typed chosen = b.builtin("sequence_at", {both, b.prim(1)}, tensor_info(DType::Int64, dims));
  Typed values = b.call("gather_elements", {all, chosen}, {{"axis", int64_t{1}}});
  if (node.flag("normalize_routing_weights"))
    values = b.divide(values, b.call("sum", {values}, {{"axis", std::vector<int64_t>{1}}, {"keepdims", true}}));
  const Typed none = b.call("full", {b.scalar(DType::Float32, 0), b.shape(scores.dims())});
  return b.call("scatter_elements", {none, chosen, values}, {{"axis", int64_t{1}}});
}

// `weight(i)`: the i-th weights [experts, outputs, inputs]; `bias(i)` [experts, outputs].
Results mixture(const Node& node, const Typed& share, const std::function<Typed(size_t)>& weight,
                const std::function<std::optional<Typed>(size_t)>& bias) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const Typed tokens = b.reshape(x, {share.dim(0), x.dim(x.rank() - 1)});
  const auto layer = [&](const Typed& rows, size_t i) {
    const Typed y = b.call("matmul", {rows, b.cast(weight(i), x.dtype())}, {{"transpose_b", true}});
    const auto added = bias(i);
    return added ? b.add(y, b.unsqueeze(*added, 1)) : y;
  };
  const Typed rows = b.unsqueeze(tokens, 0);
  const Typed inner = activated(node, layer(rows, 0), [&] { return layer(rows, 2); });
  const Typed parts = b.multiply(layer(inner, 1), b.cast(b.unsqueeze(b.transpose(share, {1, 0}), 2), x.dtype()));
  return {b.reshape(b.call("sum", {parts}, {{"axis", std::vector<int64_t>{0}}}), x.dims())};
}

}  // namespace

// input, scores of the experts, then weights and bias of each layer
Results convert_mo_e(const Node& node) {
  return mixture(
      node, shares(node, {}), [&](size_t i) { return node.input(2 + 2 * i); },
      [&](size_t i) { return optional(node, 3 + 2 * i); });
}

// input, scores of the experts, then weights, scales and bias of each layer, their zero points, and weights of the
// experts that are not those they are chosen by
Results convert_q_mo_e(const Node& node) {
  auto& b = node.builder();
  const int64_t bits = node.integer("expert_weight_bits", 4), block = node.integer("block_size", 0);
  if (const std::string type = node.text("quant_type", "int"); type != "int")
    fail(ErrorCode::Unsupported, "quant_type is '{}', int is supported", type);
  if (bits != 2 && bits != 4 && bits != 8) fail(ErrorCode::InvalidArgument, "expert_weight_bits is {}", bits);
  const auto merged = [&](const Typed& bytes) {
    Dims dims = bytes.dims();
    dims.back() = dims.back() * (8 / bits);
    return b.reshape(unpack_bits(b, bytes, bits), dims);
  };
  const auto weight = [&](size_t i) {
    const Typed codes = merged(node.input(2 + 3 * i)), &scale = node.input(3 + 3 * i);
    const auto over = [&](const Typed& x) { return x.rank() == 2 ? b.unsqueeze(x, 2) : spread(b, codes, x, 2, block); };
    Typed zero = b.scalar(scale.dtype(), static_cast<double>(1 << (bits - 1)));
    if (node.has(11 + i)) {
      const auto count = scale.dim(scale.rank() - 1).as_const();
      if (!count) fail(ErrorCode::Unsupported, "the shape of the scales must be known");
      const Typed all = merged(node.input(11 + i));
      zero = over(b.cast(b.part(all, static_cast<int64_t>(all.rank()) - 1, 0, *count), scale.dtype()));
    }
    return b.multiply(b.subtract(b.cast(codes, scale.dtype()), zero), over(scale));
  };
  return mixture(node, shares(node, optional(node, 14)), weight, [&](size_t i) { return optional(node, 4 + 3 * i); });
}

}  // namespace ingot::onnx_import
