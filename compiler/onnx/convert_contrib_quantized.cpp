#include <numeric>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/quantized.h"
#include "compiler/onnx/spatial.h"
#include "runtime/base/error.h"

// Quantised values in operators of com.microsoft.
namespace ingot::onnx_import {

namespace {

// A float brought to the scale of input `at` and the zero point behind it, which may be missing.
Typed quantize_again(const Node& node, const Typed& value, size_t at, DType fallback) {
  auto& b = node.builder();
  const auto zero = optional(node, at + 1);
  return quantize(b, b.divide(value, spread(b, value, node.input(at), 0, 0)),
                  zero ? std::optional(spread(b, value, *zero, 0, 0)) : zero, zero ? zero->dtype() : fallback);
}

Typed operand(const Node& node, size_t at) {
  return dequantize(node.builder(), node.input(at), node.input(at + 1), optional(node, at + 2), 0);
}

// Operands as value, scale and zero point, then scale and zero point of the result: computed as floats.
Results through_floats(const Node& node, size_t operands, const std::function<Typed(std::span<const Typed>)>& apply) {
  std::vector<Typed> values;
  for (size_t i = 0; i < operands; ++i) values.push_back(operand(node, 3 * i));
  return {quantize_again(node, apply(values), 3 * operands, node.input(0).dtype())};
}

}  // namespace

Results convert_q_linear_add(const Node& node) {
  return through_floats(node, 2, [&](auto v) { return node.builder().add(v[0], v[1]); });
}
Results convert_q_linear_mul(const Node& node) {
  return through_floats(node, 2, [&](auto v) { return node.builder().multiply(v[0], v[1]); });
}
Results convert_q_linear_sigmoid(const Node& node) {
  return through_floats(node, 1, [&](auto v) { return node.builder().call("sigmoid", {v[0]}); });
}
Results convert_q_linear_leaky_relu(const Node& node) {
  return through_floats(node, 1, [&](auto v) {
    return node.builder().call("leaky_relu", {v[0]}, {{"alpha", node.number("alpha", 0.01)}});
  });
}
Results convert_q_linear_softmax(const Node& node) {
  auto& b = node.builder();
  // Its attribute opset says whether the dimensions from the axis on are taken as one.
  return through_floats(node, 1, [&](auto v) {
    const int64_t axis = node.axis(node.integer("axis", -1), v[0].rank());
    if (node.integer("opset", 13) >= 13) return b.call("softmax", {v[0]}, {{"axis", axis}});
    const Typed matrix = b.call("flatten", {v[0]}, {{"axis", axis}});
    return b.reshape(b.call("softmax", {matrix}, {{"axis", int64_t{1}}}), v[0].dims());
  });
}
Results convert_q_linear_global_average_pool(const Node& node) {
  return through_floats(node, 1, [&](auto v) {
    const bool last = node.flag("channels_last");
    std::vector<int64_t> axes(v[0].rank() - 2);
    std::iota(axes.begin(), axes.end(), last ? int64_t{1} : int64_t{2});
    return node.builder().call("mean", {v[0]}, {{"axis", axes}, {"keepdims", true}});
  });
}

Results convert_q_linear_average_pool(const Node& node) {
  auto& b = node.builder();
  return through_floats(node, 1, [&](auto v) {
    if (!node.flag("channels_last")) return average_pool(node, v[0]);
    return channels_last(b, average_pool(node, channels_first(b, v[0])));
  });
}
Results convert_q_linear_reduce_mean(const Node& node) {
  return through_floats(node, 1, [&](auto v) {
    auto axes = node.integers("axes").value_or(std::vector<int64_t>(v[0].rank()));
    if (node.find("axes") == nullptr) std::iota(axes.begin(), axes.end(), int64_t{0});
    for (auto& axis : axes) axis = node.axis(axis, v[0].rank());
    return node.builder().call("mean", {v[0]}, {{"axis", axes}, {"keepdims", node.flag("keepdims", true)}});
  });
}

// The scale and zero point of the result come first, then value, scale and zero point of each part.
Results convert_q_linear_concat(const Node& node) {
  std::vector<Typed> parts;
  for (size_t at = 2; at < node.inputs(); at += 3) parts.push_back(operand(node, at));
  if (parts.empty()) fail(ErrorCode::ArityMismatch, "it has no parts");
  const int64_t axis = node.axis(node.integer("axis", 0), parts[0].rank());
  const Typed whole = node.builder().call_tuple("concat", parts, {{"axis", axis}});
  return {quantize_again(node, whole, 0, node.input(2).dtype())};
}

Results convert_q_linear_where(const Node& node) {
  const Typed value = node.builder().call("where", {node.input(0), operand(node, 1), operand(node, 4)});
  return {quantize_again(node, value, 7, node.input(1).dtype())};
}

Results convert_ms_q_linear_conv(const Node& node) {
  auto& b = node.builder();
  if (!node.flag("channels_last")) return convert_q_linear_conv(node);
  return {channels_last(b, quantized_convolution(node, channels_first(b, node.input(0))))};
}

// A, its scale and zero point, B, its scale and zero point, C of whole numbers in the scale of the product; without a
// scale and zero point of the result it is a float.
Results convert_q_gemm(const Node& node) {
  auto& b = node.builder();
  const auto side = [&](size_t at, const char* flag, int64_t axis) {
    const Typed whole = centred(b, node.input(at), optional(node, at + 2), axis);
    return node.flag(flag) ? b.transpose(whole, {1, 0}) : whole;
  };
  Typed sum = b.call("matmul", {side(0, "transA", 1), side(3, "transB", node.flag("transB") ? 0 : 1)});
  if (node.has(6)) sum = b.add(sum, node.input(6));
  const Typed scale = b.multiply(spread(b, sum, node.input(1), 1, 0), spread(b, sum, node.input(4), 1, 0));
  const Typed y = b.call("multiply", b.multiply(b.cast(sum, scale.dtype()), scale), node.number("alpha", 1));
  return {node.has(7) ? quantize_again(node, y, 7, node.input(0).dtype()) : y};
}

// A of floats, B, its scale and zero point, and a bias.
Results convert_dynamic_quantize_mat_mul(const Node& node) {
  auto& b = node.builder();
  const Quantized x = dynamic_quantize(b, node.input(0));
  const Typed y = scaled_product(b, x.values, x.scale, x.zero, node.input(1), node.input(2), optional(node, 3));
  return {node.has(4) ? b.add(y, node.input(4)) : y};
}

// A, B, their scales, their zero points, and a bias.
Results convert_mat_mul_integer_to_float(const Node& node) {
  auto& b = node.builder();
  const Typed y = scaled_product(b, node.input(0), node.input(2), optional(node, 4), node.input(1), node.input(3),
                                 optional(node, 5));
  return {node.has(6) ? b.add(y, node.input(6)) : y};
}

}  // namespace ingot::onnx_import
