#include "compiler/onnx/conversions.h"
#include "compiler/onnx/quantized.h"
#include "compiler/onnx/spatial.h"
#include "runtime/base/error.h"

// Quantisation, and products and convolutions of quantised values.
namespace ingot::onnx_import {
namespace {

int64_t quantized_axis(const Node& node, const Typed& x) {
  const int64_t axis = node.integer("axis", 1);
  const auto rank = static_cast<int64_t>(x.rank());
  // One scale for all has no axis.
  const Typed& scale = node.input(1);
  const bool one = scale.rank() == 0 || (scale.rank() == 1 && scale.dim(0).is_const(1));
  if (!one && node.find("axis") != nullptr) return node.axis(axis, x.rank());
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

Results convert_quantize_linear(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t axis = quantized_axis(node, x), block = node.integer("block_size", 0, 0);
  const int32_t type = node.element_type("output_dtype");
  const DType dtype = node.has(2) ? node.input(2).dtype() : type != 0 ? dtype_of(type) : DType::UInt8;
  const auto precision = node.element_type("precision");
  const Typed scale = b.cast(node.input(1), precision != 0        ? dtype_of(precision)
                                            : is_float(x.dtype()) ? node.input(1).dtype()
                                                                  : DType::Float32);
  const Typed value = b.cast(x, scale.dtype());
  const Typed scaled = b.divide(value, spread(b, x, scale, axis, block));
  const int32_t stored = node.storage_type(2);
  Typed result;
  if (is_float(dtype)) {
    result = b.builtin("round_to", {scaled, b.prim(stored), b.prim(node.flag("saturate", true))},
                       tensor_info(DType::Float32, x.dims()));
  } else {
    std::optional<Typed> zero;
    if (node.has(2)) zero = spread(b, x, node.input(2), axis, block);
    const auto range = stored_range(stored);
    result = quantize(b, scaled, zero, dtype, range.value_or(quantized_range(dtype)));
  }
  result.stored = stored;
  return {result};
}

Results convert_dequantize_linear(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto output = node.element_type("output_dtype");
  const Typed scale = output == 0 ? node.input(1) : b.cast(node.input(1), dtype_of(output));
  const int64_t axis = quantized_axis(node, x), block = node.integer("block_size", 0, 0);
  Typed value = x;
  if (node.has(2)) {
    const DType wide = is_integer(x.dtype()) ? DType::Int32 : x.dtype();
    value = b.subtract(b.cast(x, wide), spread(b, x, b.cast(node.input(2), wide), axis, block));
  }
  return {b.multiply(b.cast(value, scale.dtype()), spread(b, x, scale, axis, block))};
}

Results convert_dynamic_quantize_linear(const Node& node) {
  const Quantized all = dynamic_quantize(node.builder(), node.input(0));
  return {all.values, all.scale, all.zero};
}

// Zero points of rows of the first and of columns of the second matrix.
Results convert_mat_mul_integer(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &y = node.input(1);
  const auto rows = x.rank() >= 2 ? static_cast<int64_t>(x.rank()) - 2 : 0;
  return {b.call("matmul", {centred(b, x, optional(node, 2), rows),
                            centred(b, y, optional(node, 3), static_cast<int64_t>(y.rank()) - 1)})};
}

Results convert_q_linear_mat_mul(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &y = node.input(3), &zero = node.input(7);
  const Typed product = b.call("matmul", {centred(b, x, node.input(2), static_cast<int64_t>(x.rank()) - 2),
                                          centred(b, y, node.input(5), static_cast<int64_t>(y.rank()) - 1)});
  const auto scalar = [&](const Typed& s, int64_t axis) {
    return spread(b, product, b.cast(s, DType::Float32), axis, 0);
  };
  const auto rank = static_cast<int64_t>(product.rank());
  const Typed scale = b.divide(b.multiply(scalar(node.input(1), rank - 2), scalar(node.input(4), rank - 1)),
                               scalar(node.input(6), rank - 2));
  return {quantize(b, b.multiply(b.cast(product, DType::Float32), scale), scalar(zero, rank - 2), zero.dtype())};
}

Results convert_conv_integer(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &w = node.input(1);
  const Window v = window(node, x, kernel_shape(node, w));
  return {convolution(b, centred(b, x, optional(node, 2), 0), centred(b, w, optional(node, 3), 0), v,
                      node.integer("group", 1, 1, INT32_MAX))};
}

Results convert_q_linear_conv(const Node& node) { return {quantized_convolution(node, node.input(0))}; }

Typed quantized_convolution(const Node& node, const Typed& x) {
  auto& b = node.builder();
  const Typed &w = node.input(3), &zero = node.input(7);
  const Window v = window(node, x, kernel_shape(node, w));
  Typed sum = convolution(b, centred(b, x, node.input(2), 0), centred(b, w, node.input(5), 0), v,
                          node.integer("group", 1, 1, INT32_MAX));
  if (node.has(8)) sum = b.call("bias_add", {sum, node.input(8)}, {{"axis", int64_t{1}}});
  const Typed scale = b.divide(b.multiply(spread(b, sum, node.input(1), 1, 0), spread(b, sum, node.input(4), 1, 0)),
                               spread(b, sum, node.input(6), 1, 0));
  return quantize(b, b.multiply(b.cast(sum, DType::Float32), scale), spread(b, sum, zero, 1, 0), zero.dtype());
}

}  // namespace ingot::onnx_import
