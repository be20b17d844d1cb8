#include "compiler/onnx/quantized.h"

#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::onnx_import {

StoredRange quantized_range(DType dtype) {
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

Typed spread(GraphBuilder& b, const Typed& x, const Typed& vector, int64_t axis, int64_t block) {
  if (vector.rank() == 0) return vector;
  if (vector.rank() == 1 && vector.dim(0).is_const(1)) return b.reshape(vector, {});
  const auto along = static_cast<size_t>(axis);
  if (vector.rank() == x.rank() && block > 0) {
    const Typed repeated = b.call("repeat", {vector}, {{"repeats", block}, {"axis", axis}});
    if (prove_equal(repeated.dim(along), x.dim(along)) == Proof::Yes) return repeated;
    const auto extent = x.dim(along).as_const(), blocks = vector.dim(along).as_const();
    if (extent && blocks && *extent > 0 && *blocks != (*extent - 1) / block + 1)
      fail(ErrorCode::ShapeMismatch, "the scale has {} blocks of {} for {} elements", *blocks, block, *extent);
    if (!extent) fail(ErrorCode::Unsupported, "blocks of an axis whose size is not known");
    return b.part(repeated, axis, 0, *extent);
  }
  if (vector.rank() != 1)
    fail(ErrorCode::ShapeMismatch, "the scale has rank {}, it must have 0, 1 or, in blocks, {}", vector.rank(),
         x.rank());
  if (prove_equal(vector.dim(0), x.dim(along)) == Proof::No)
    fail(ErrorCode::ShapeMismatch, "the scale has {} elements, dimension {} has {}", to_text(vector.dim(0)), axis,
         to_text(x.dim(along)));
  Typed result = vector;
  for (size_t d = along + 1; d < x.rank(); ++d) result = b.unsqueeze(result, static_cast<int64_t>(result.rank()));
  return result;
}

// 16-bit floats are widened: they do not hold all whole numbers.
Typed quantize(GraphBuilder& b, const Typed& scaled, const std::optional<Typed>& zero, DType dtype, StoredRange range) {
  Typed rounded = b.call("round", {scaled});
  if (dtype_bytes(rounded.dtype()) < 4) rounded = b.cast(rounded, DType::Float32);
  if (zero) rounded = b.add(rounded, b.cast(*zero, rounded.dtype()));
  return b.cast(b.call("clip", {rounded}, {{"a_min", range.low}, {"a_max", range.high}}), dtype);
}

Typed quantize(GraphBuilder& b, const Typed& scaled, const std::optional<Typed>& zero, DType dtype) {
  return quantize(b, scaled, zero, dtype, quantized_range(dtype));
}

Typed dequantize(GraphBuilder& b, const Typed& x, const Typed& scale, const std::optional<Typed>& zero, int64_t axis) {
  Typed value = x;
  if (zero) {
    const DType wide = is_integer(x.dtype()) ? DType::Int32 : x.dtype();
    value = b.subtract(b.cast(x, wide), spread(b, x, b.cast(*zero, wide), axis, 0));
  }
  return b.multiply(b.cast(value, scale.dtype()), spread(b, x, scale, axis, 0));
}

Typed unpack_bits(GraphBuilder& b, const Typed& bytes, int64_t bits) {
  if (bits == 8) return bytes;
  std::vector<Typed> parts;
  const auto last = static_cast<int64_t>(bytes.rank());
  for (int64_t i = 0; i < 8 / bits; ++i) {
    const Typed moved = i == 0 ? bytes : b.call("right_shift", bytes, static_cast<double>(i * bits));
    parts.push_back(b.unsqueeze(b.call("bitwise_and", moved, static_cast<double>((1 << bits) - 1)), last));
  }
  return b.call_tuple("concat", parts, {{"axis", last}});
}

Quantized dynamic_quantize(GraphBuilder& b, const Typed& x) {
  const Typed high = b.call("maximum", b.call("max", {x}), 0.0), low = b.call("minimum", b.call("min", {x}), 0.0);
  const Typed width = b.subtract(high, low);
  const Typed scale =
      b.call("where", {b.call("equal", width, 0.0), b.scalar(x.dtype(), 1), b.call("divide", width, 255.0)});
  const Typed origin = b.call("round", {b.divide(b.call("negative", {low}), scale)});
  const Typed zero = b.cast(b.call("clip", {origin}, {{"a_min", 0.0}, {"a_max", 255.0}}), DType::UInt8);
  return {quantize(b, b.divide(x, scale), zero, DType::UInt8), scale, zero};
}

Typed centred(GraphBuilder& b, const Typed& x, const std::optional<Typed>& zero, int64_t axis) {
  const Typed wide = b.cast(x, DType::Int32);
  return zero ? b.subtract(wide, spread(b, x, b.cast(*zero, DType::Int32), axis, 0)) : wide;
}

Typed scaled_product(GraphBuilder& b, const Typed& x, const Typed& x_scale, const std::optional<Typed>& x_zero,
                     const Typed& y, const Typed& y_scale, const std::optional<Typed>& y_zero) {
  const Typed sum = b.call("matmul", {centred(b, x, x_zero, static_cast<int64_t>(x.rank()) - 1),
                                      centred(b, y, y_zero, static_cast<int64_t>(y.rank()) - 1)});
  const auto last = static_cast<int64_t>(sum.rank()) - 1;
  const Typed scale = b.multiply(spread(b, sum, x_scale, last, 0), spread(b, sum, y_scale, last, 0));
  return b.multiply(b.cast(sum, scale.dtype()), scale);
}

}  // namespace ingot::onnx_import
