#pragma once
#include <optional>

#include "compiler/onnx/node.h"
#include "compiler/onnx/tensor.h"

// Quantisation: y = saturate(round(x / scale) + zero), x = (y - zero) * scale.
namespace ingot::onnx_import {

// What integers of a dtype can be, as far as quantisation uses it.
StoredRange quantized_range(DType dtype);

// A scale or zero point brought to the shape of `x`: one number, one for each place of an axis, or one for each block
// of that many places.
Typed spread(GraphBuilder& b, const Typed& x, const Typed& vector, int64_t axis, int64_t block);

// `scaled` is x / scale.
Typed quantize(GraphBuilder& b, const Typed& scaled, const std::optional<Typed>& zero, DType dtype, StoredRange range);
Typed quantize(GraphBuilder& b, const Typed& scaled, const std::optional<Typed>& zero, DType dtype);
Typed dequantize(GraphBuilder& b, const Typed& x, const Typed& scale, const std::optional<Typed>& zero, int64_t axis);

// The numbers of `bits` bits in each byte, the lowest first, in a new last dimension; bytes themselves for 8 bits.
Typed unpack_bits(GraphBuilder& b, const Typed& bytes, int64_t bits);

struct Quantized {
  Typed values, scale, zero;
};
// To uint8, with scale and zero point from the range of the data, which always holds 0.
Quantized dynamic_quantize(GraphBuilder& b, const Typed& x);

// Whole numbers without their zero point, int32.
Typed centred(GraphBuilder& b, const Typed& x, const std::optional<Typed>& zero, int64_t axis);

// The product of quantised matrices as floats: x of one scale, y of one or one for each column.
Typed scaled_product(GraphBuilder& b, const Typed& x, const Typed& x_scale, const std::optional<Typed>& x_zero,
                     const Typed& y, const Typed& y_scale, const std::optional<Typed>& y_zero);
// QLinearConv of other data than the first input.
Typed quantized_convolution(const Node& node, const Typed& x);

// Input `i`, where it is given.
inline std::optional<Typed> optional(const Node& node, size_t i) {
  return node.has(i) ? std::optional(node.input(i)) : std::nullopt;
}

}  // namespace ingot::onnx_import
