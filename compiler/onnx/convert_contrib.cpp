#include <cmath>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/quantized.h"
#include "compiler/onnx/spatial.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Operators of com.microsoft that exporters emit.
namespace ingot::onnx_import {
namespace {

// The last two dimensions exchanged.
Typed transposed(GraphBuilder& b, const Typed& x) {
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.rank(); ++d) axes.push_back(static_cast<int64_t>(d));
  if (axes.size() >= 2) std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return b.transpose(x, axes);
}

Typed normalized(const Node& node, const Typed& x, const std::optional<Typed>& scale, const std::optional<Typed>& shift,
                 bool centred, Typed* mean_out = nullptr, Typed* inverse_out = nullptr) {
  auto& b = node.builder();
  const ir::Attrs along = {{"axis", std::vector<int64_t>{-1}}, {"keepdims", true}};
  const Typed mean = b.call("mean", {x}, along);
  const Typed middle = centred ? b.subtract(x, mean) : x;
  const Typed square = b.call("mean", {b.multiply(middle, middle)}, along);
  const Typed inverse = b.call("rsqrt", {b.call("add", square, node.number("epsilon", centred ? 1e-12 : 1e-5))});
  Typed result = b.multiply(middle, inverse);
  if (scale) result = b.multiply(result, *scale);
  if (shift) result = b.add(result, *shift);
  if (mean_out != nullptr) *mean_out = mean;
  if (inverse_out != nullptr) *inverse_out = inverse;
  return result;
}

// What fused operators do with their result, by the name of an operator of the standard.
Typed activated(const Node& node, const Typed& x, std::span<const double> params) {
  auto& b = node.builder();
  const std::string name = node.text("activation", "");
  const auto param = [&](size_t i, double fallback) { return i < params.size() ? params[i] : fallback; };
  if (name.empty()) return x;
  if (name == "Relu") return b.call("relu", {x});
  if (name == "Sigmoid") return b.call("sigmoid", {x});
  if (name == "Tanh") return b.call("tanh", {x});
  if (name == "LeakyRelu") return b.call("leaky_relu", {x}, {{"alpha", param(0, 0.01)}});
  if (name == "HardSigmoid") return b.call("hard_sigmoid", {x}, {{"alpha", param(0, 0.2)}, {"beta", param(1, 0.5)}});
  if (name == "HardSwish") return b.call("hard_swish", {x});
  if (name == "Elu") return b.call("elu", {x}, {{"alpha", param(0, 1)}});
  if (name == "Softplus") return b.call("softplus", {x});
  if (name == "Clip") return b.call("clip", {x}, {{"a_min", param(0, -INFINITY)}, {"a_max", param(1, INFINITY)}});
  fail(ErrorCode::Unsupported, "activation {}", name);
}

}  // namespace

// The first dimension behind those of the batch, then the last two exchanged.
Results convert_fused_mat_mul(const Node& node) {
  auto& b = node.builder();
  const auto side = [&](size_t i, const char* batch, const char* flag) {
    Typed x = node.input(i);
    if (node.flag(batch) && x.rank() > 2) {
      std::vector<int64_t> axes;
      for (size_t d = 1; d + 1 < x.rank(); ++d) axes.push_back(static_cast<int64_t>(d));
      axes.insert(axes.end(), {0, static_cast<int64_t>(x.rank()) - 1});
      x = b.transpose(x, axes);
    }
    return node.flag(flag) ? transposed(b, x) : x;
  };
  const Typed product = b.call("matmul", {side(0, "transBatchA", "transA"), side(1, "transBatchB", "transB")});
  const double alpha = node.number("alpha", 1);
  return {alpha == 1 ? product : b.call("multiply", product, alpha)};
}

// Conv with one more operand that is added, and an activation.
Results convert_fused_conv(const Node& node) {
  Typed y = convert_conv(node)[0];
  if (node.has(3)) y = node.builder().add(y, node.input(3));
  return {activated(node, y, node.numbers("activation_params").value_or(std::vector<double>{}))};
}

namespace {

// With channels last: data, and for convolutions what is added to the result.
Results with_channels_last(const Node& node, Convert convert) {
  auto& b = node.builder();
  Node inner = node.with_input(0, channels_first(b, node.input(0)));
  if (node.has(3)) inner = inner.with_input(3, channels_first(b, node.input(3)));
  Results results = convert(inner);
  for (auto& result : results) result = channels_last(b, result);
  return results;
}

}  // namespace

Results convert_nhwc_conv(const Node& node) { return with_channels_last(node, convert_conv); }
Results convert_nhwc_fused_conv(const Node& node) { return with_channels_last(node, convert_fused_conv); }
Results convert_nhwc_max_pool(const Node& node) { return with_channels_last(node, convert_max_pool); }

Results convert_fused_gemm(const Node& node) {
  const double params[] = {node.number("activation_alpha", 0.01), node.number("activation_beta", 0)};
  return {activated(node, convert_gemm(node)[0], params)};
}

Results convert_bias_softmax(const Node& node) {
  auto& b = node.builder();
  const Typed sum = b.add(node.input(0), node.input(1));
  const int64_t axis = node.axis(node.integer("axis", 1), sum.rank());
  if (axis + 1 == static_cast<int64_t>(sum.rank())) return {b.call("softmax", {sum}, {{"axis", axis}})};
  const Typed matrix = b.call("flatten", {sum}, {{"axis", axis}});
  return {b.reshape(b.call("softmax", {matrix}, {{"axis", int64_t{1}}}), sum.dims())};
}

// The first half of the sum times gelu of the second.
Results convert_bias_split_gelu(const Node& node) {
  auto& b = node.builder();
  const Typed sum = b.add(node.input(0), node.input(1));
  const auto last = static_cast<int64_t>(sum.rank()) - 1;
  const auto width = sum.dim(sum.rank() - 1).as_const();
  if (!width) fail(ErrorCode::Unsupported, "the last dimension must be known");
  return {b.multiply(b.part(sum, last, 0, *width / 2), b.call("gelu", {b.part(sum, last, *width / 2, *width)}))};
}

Results convert_bias_add(const Node& node) {
  auto& b = node.builder();
  return {b.add(b.add(node.input(0), node.input(1)), node.input(2))};
}

namespace {

Typed group_normalized(const Node& node, const Typed& x) {
  auto& b = node.builder();
  const bool last = node.flag("channels_last", true);
  const Typed y =
      b.call("group_norm", {b.cast(last ? channels_first(b, x) : x, DType::Float32), node.input(1), node.input(2)},
             {{"num_groups", node.integer("groups", 1)}, {"epsilon", node.number("epsilon", 1e-5)}});
  const Typed result = b.cast(node.flag("activation") ? b.call("silu", {y}) : y, x.dtype());
  return last ? channels_last(b, result) : result;
}

}  // namespace

Results convert_ms_group_norm(const Node& node) { return {group_normalized(node, node.input(0))}; }

// Normalises x + skip + bias, and gives the sum as well. A skip [N, C] is one for all places.
Results convert_skip_group_norm(const Node& node) {
  auto& b = node.builder();
  const auto spread = [&](const Typed& x) {
    if (node.flag("channels_last", true)) return x.rank() == 2 ? b.unsqueeze(b.unsqueeze(x, 1), 1) : x;
    return x.rank() < 4 ? b.unsqueeze(b.unsqueeze(x, static_cast<int64_t>(x.rank())), static_cast<int64_t>(x.rank()))
                        : x;
  };
  Typed sum = b.add(node.input(0), spread(node.input(3)));
  if (node.has(4)) sum = b.add(sum, spread(node.input(4)));
  return {group_normalized(node, sum), sum};
}

Results convert_bias_gelu(const Node& node) {
  auto& b = node.builder();
  return {b.call("gelu", {b.add(node.input(0), node.input(1))})};
}

Results convert_fast_gelu(const Node& node) {
  auto& b = node.builder();
  return {b.call("gelu_tanh", {node.has(1) ? b.add(node.input(0), node.input(1)) : node.input(0)})};
}

// A product, a bias and the approximation of gelu by tanh.
Results convert_gemm_fast_gelu(const Node& node) {
  auto& b = node.builder();
  const Typed product = b.call("matmul", {node.input(0), node.input(1)});
  return {b.call("gelu_tanh", {node.has(2) ? b.add(product, node.input(2)) : product})};
}

Results convert_ms_gelu(const Node& node) { return convert_same(node, "gelu"); }

Results convert_quick_gelu(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  return {b.multiply(x, b.call("sigmoid", {b.call("multiply", x, node.number("alpha", 1.702))}))};
}

namespace {

Results skip_normalization(const Node& node, bool centred) {
  auto& b = node.builder();
  Typed sum = b.add(node.input(0), node.input(1));
  const size_t bias = centred ? 4 : 3;
  if (node.has(bias)) sum = b.add(sum, node.input(bias));
  Typed mean, inverse;
  const Typed result =
      normalized(node, sum, node.input(2), centred ? optional(node, 3) : std::nullopt, centred, &mean, &inverse);
  return {result, mean, inverse, sum};
}

}  // namespace

Results convert_skip_layer_normalization(const Node& node) { return skip_normalization(node, true); }
Results convert_skip_simplified_layer_normalization(const Node& node) { return skip_normalization(node, false); }

Results convert_embed_layer_normalization(const Node& node) {
  auto& b = node.builder();
  const Typed& ids = node.input(0);
  const auto rows = [&](size_t table, const Typed& places) { return b.gather(node.input(table), places, 0); };
  Typed sum = rows(2, ids);
  Typed place;
  if (node.has(8)) {
    place = node.input(8);
  } else {
    place = b.positions(ids.dim(1));
  }
  sum = b.add(sum, rows(3, place));
  if (node.has(1) && node.has(4)) sum = b.add(sum, rows(4, node.input(1)));
  const Typed result = normalized(node, sum, optional(node, 5), optional(node, 6), true);
  const Typed lengths =
      node.has(7) ? b.cast(b.call("sum", {b.cast(node.input(7), DType::Int32)}, {{"axis", std::vector<int64_t>{1}}}),
                           DType::Int32)
                  : b.call("full", {b.scalar(DType::Int32, 0), b.shape({ids.dim(0)})});
  return {result, lengths, sum};
}

// The tables, scale and shift of 8 bits: their scales are inputs 8 to 12, their zero points behind them.
Results convert_q_embed_layer_normalization(const Node& node) {
  Node floats = node;
  for (size_t i = 0; i < 5; ++i)
    if (node.has(2 + i))
      floats = floats.with_input(
          2 + i, dequantize(node.builder(), node.input(2 + i), node.input(8 + i), optional(node, 13 + i), 0));
  return convert_embed_layer_normalization(floats.without_inputs_from(8));
}

// The decay of a linear attention from its projection, and how much each step corrects.
Results convert_linear_attention_gate(const Node& node) {
  auto& b = node.builder();
  const Typed& a = node.input(0);
  const Typed wide = b.cast(a, DType::Float32);
  const Typed decay = b.multiply(b.call("softplus", {b.add(wide, node.input(1))}), node.input(2));
  Results results = {b.cast(decay, a.dtype())};
  if (node.has(3)) results.push_back(b.call("sigmoid", {node.input(3)}));
  return results;
}

}  // namespace ingot::onnx_import
