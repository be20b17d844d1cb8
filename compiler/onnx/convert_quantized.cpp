#include <numeric>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/spatial.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Quantisation: y = saturate(round(x / scale) + zero), x = (y - zero) * scale.
namespace ingot::onnx_import {
namespace {

struct Range {
  double low, high;
};

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::UInt8:
      return {0, 255};
    case DType::Int8:
      return {-128, 127};
    case DType::UInt16:
      return {0, 65535};
    case DType::Int16:
      return {-32768, 32767};
    default:
      return {-2147483648.0, 2147483647.0};
  }
}

// A scale or zero point brought to the shape of `x`: one number, one for each place of an axis, or one for each block
// of that many places.
Typed spread(GraphBuilder& b, const Typed& x, const Typed& vector, int64_t axis, int64_t block) {
  if (vector.rank() == 0) return vector;
  if (vector.rank() == 1 && vector.dim(0).is_const(1)) return b.reshape(vector, {});
  const auto along = static_cast<size_t>(axis);
  if (vector.rank() == x.rank() && block > 0) {
    const Typed repeated = b.call("repeat", {vector}, {{"repeats", block}, {"axis", axis}});
    if (prove_equal(repeated.dim(along), x.dim(along)) == Proof::Yes) return repeated;
    const auto extent = x.dim(along).as_const();
    if (!extent) fail(ErrorCode::Unsupported, "blocks of an axis whose size is not known");
    return b.part(repeated, axis, 0, *extent);
  }
  if (vector.rank() != 1)
    fail(ErrorCode::ShapeMismatch, "the scale has rank {}, it must have 0, 1 or, in blocks, {}", vector.rank(),
         x.rank());
  Typed result = vector;
  for (size_t d = along + 1; d < x.rank(); ++d) result = b.unsqueeze(result, static_cast<int64_t>(result.rank()));
  return result;
}

// 16-bit floats are widened: they do not hold all whole numbers.
Typed quantize(GraphBuilder& b, const Typed& scaled, const std::optional<Typed>& zero, DType dtype, Range range) {
  Typed rounded = b.call("round", {scaled});
  if (dtype_bytes(rounded.dtype()) < 4) rounded = b.cast(rounded, DType::Float32);
  if (zero) rounded = b.add(rounded, b.cast(*zero, rounded.dtype()));
  return b.cast(b.call("clip", {rounded}, {{"a_min", range.low}, {"a_max", range.high}}), dtype);
}

Typed quantize(GraphBuilder& b, const Typed& scaled, const std::optional<Typed>& zero, DType dtype) {
  return quantize(b, scaled, zero, dtype, range_of(dtype));
}

Typed dequantize(GraphBuilder& b, const Typed& x, const Typed& scale, const std::optional<Typed>& zero, int64_t axis) {
  Typed value = x;
  if (zero) {
    const DType wide = is_integer(x.dtype()) ? DType::Int32 : x.dtype();
    value = b.subtract(b.cast(x, wide), spread(b, x, b.cast(*zero, wide), axis, 0));
  }
  return b.multiply(b.cast(value, scale.dtype()), spread(b, x, scale, axis, 0));
}

int64_t quantized_axis(const Node& node, const Typed& x) {
  const int64_t axis = node.integer("axis", 1);
  const auto rank = static_cast<int64_t>(x.rank());
  return axis < 0 ? axis + rank : axis;
}

std::optional<Typed> optional(const Node& node, size_t i) {
  return node.has(i) ? std::optional(node.input(i)) : std::nullopt;
}

// Whole numbers without their zero point, int32.
Typed centred(GraphBuilder& b, const Typed& x, const std::optional<Typed>& zero, int64_t axis) {
  const Typed wide = b.cast(x, DType::Int32);
  return zero ? b.subtract(wide, spread(b, x, b.cast(*zero, DType::Int32), axis, 0)) : wide;
}

}  // namespace

Results convert_quantize_linear(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t axis = quantized_axis(node, x), block = node.integer("block_size", 0);
  const int64_t type = node.integer("output_dtype", 0);
  const DType dtype = node.has(2) ? node.input(2).dtype()
                      : type != 0 ? dtype_of(static_cast<int32_t>(type))
                                  : DType::UInt8;
  const auto precision = static_cast<int32_t>(node.integer("precision", 0));
  const Typed scale = b.cast(node.input(1), precision != 0        ? dtype_of(precision)
                                            : is_float(x.dtype()) ? node.input(1).dtype()
                                                                  : DType::Float32);
  const Typed value = b.cast(x, scale.dtype());
  const Typed scaled = b.divide(value, spread(b, x, scale, axis, block));
  const int32_t stored = node.storage_type(2);
  Typed result;
  if (is_float(dtype)) {
    result = b.builtin("round_to", {scaled, b.prim(stored), b.prim(node.integer("saturate", 1))},
                       tensor_info(DType::Float32, x.dims()));
  } else {
    std::optional<Typed> zero;
    if (node.has(2)) zero = spread(b, x, node.input(2), axis, block);
    const auto range = stored_range(stored);
    result = quantize(b, scaled, zero, dtype, range ? Range{range->low, range->high} : range_of(dtype));
  }
  result.stored = stored;
  return {result};
}

Results convert_dequantize_linear(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto output = static_cast<int32_t>(node.integer("output_dtype", 0));
  const Typed scale = output == 0 ? node.input(1) : b.cast(node.input(1), dtype_of(output));
  const int64_t axis = quantized_axis(node, x), block = node.integer("block_size", 0);
  Typed value = x;
  if (node.has(2)) {
    const DType wide = is_integer(x.dtype()) ? DType::Int32 : x.dtype();
    value = b.subtract(b.cast(x, wide), spread(b, x, b.cast(node.input(2), wide), axis, block));
  }
  return {b.multiply(b.cast(value, scale.dtype()), spread(b, x, scale, axis, block))};
}

// To uint8, with scale and zero point from the range of the data, which always holds 0.
Results convert_dynamic_quantize_linear(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const Typed high = b.call("maximum", b.call("max", {x}), 0.0), low = b.call("minimum", b.call("min", {x}), 0.0);
  const Typed width = b.subtract(high, low);
  const Typed scale =
      b.call("where", {b.call("equal", width, 0.0), b.scalar(x.dtype(), 1), b.call("divide", width, 255.0)});
  const Typed origin = b.call("round", {b.divide(b.call("negative", {low}), scale)});
  const Typed zero = b.cast(b.call("clip", {origin}, {{"a_min", 0.0}, {"a_max", 255.0}}), DType::UInt8);
  return {quantize(b, b.divide(x, scale), zero, DType::UInt8), scale, zero};
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
                      node.integer("group", 1))};
}

Results convert_q_linear_conv(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &w = node.input(3), &zero = node.input(7);
  const Window v = window(node, x, kernel_shape(node, w));
  Typed sum =
      convolution(b, centred(b, x, node.input(2), 0), centred(b, w, node.input(5), 0), v, node.integer("group", 1));
  if (node.has(8)) sum = b.call("bias_add", {sum, node.input(8)}, {{"axis", int64_t{1}}});
  const Typed scale = b.divide(b.multiply(spread(b, sum, node.input(1), 1, 0), spread(b, sum, node.input(4), 1, 0)),
                               spread(b, sum, node.input(6), 1, 0));
  return {quantize(b, b.multiply(b.cast(sum, DType::Float32), scale), spread(b, sum, zero, 1, 0), zero.dtype())};
}

// Binary and unary operators of com.microsoft on quantised values: computed as floats.
namespace {

Results through_floats(const Node& node, size_t operands, const std::function<Typed(std::span<const Typed>)>& apply) {
  auto& b = node.builder();
  std::vector<Typed> values;
  for (size_t i = 0; i < operands; ++i)
    values.push_back(dequantize(b, node.input(3 * i), node.input(3 * i + 1), optional(node, 3 * i + 2), 0));
  const Typed result = apply(values);
  const Typed& scale = node.input(3 * operands);
  const auto zero = optional(node, 3 * operands + 1);
  const DType dtype = zero ? zero->dtype() : node.input(0).dtype();
  return {quantize(b, b.divide(result, spread(b, result, scale, 0, 0)),
                   zero ? std::optional(spread(b, result, *zero, 0, 0)) : zero, dtype)};
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
  return through_floats(node, 1, [&](auto v) {
    return node.builder().call("softmax", {v[0]}, {{"axis", node.axis(node.integer("axis", -1), v[0].rank())}});
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

}  // namespace ingot::onnx_import
