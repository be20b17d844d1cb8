#include "compiler/onnx/conversions.h"
#include "compiler/onnx/quantized.h"
#include "compiler/ops/operands.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Operators of com.microsoft on weights of a few bits, in blocks that have scales of their own.
namespace ingot::onnx_import {

// Weights of 2, 4 or 8 bits in blocks along K, each with a scale and, perhaps, a zero point.
Results convert_mat_mul_n_bits(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  constexpr int64_t kMost = int64_t{1} << 40;
  const int64_t bits = node.integer("bits", 4, 2, 8), block = node.integer("block_size", 32, 1, kMost);
  for (const char* size : {"N", "K"})
    if (node.find(size) == nullptr) fail(ErrorCode::InvalidArgument, "attribute {} is missing", size);
  const int64_t rows = node.integer("N", 1, 1), columns = node.integer("K", 1, 1, kMost);
  if (bits != 2 && bits != 4 && bits != 8)
    fail(ErrorCode::InvalidArgument, "attribute bits is {}, it must be 2, 4 or 8", bits);
  const int64_t per_byte = 8 / bits, blocks = (columns + block - 1) / block;
  const Typed flat = b.reshape(node.input(1), {PrimExpr(rows), PrimExpr(blocks), PrimExpr(block / per_byte)});
  const Typed whole = b.reshape(unpack_bits(b, flat, bits), {PrimExpr(rows), PrimExpr(blocks), PrimExpr(block)});
  const Typed scale = b.reshape(node.input(2), {PrimExpr(rows), PrimExpr(blocks), PrimExpr(1)});
  Typed zero = b.scalar(x.dtype(), static_cast<double>(1 << (bits - 1)));
  if (node.has(3)) {
    const Typed& given = node.input(3);
    if (is_float(given.dtype())) {
      zero = b.reshape(given, {PrimExpr(rows), PrimExpr(blocks), PrimExpr(1)});
    } else {
      const int64_t bytes = (blocks + per_byte - 1) / per_byte;
      const Typed wide = b.reshape(unpack_bits(b, b.reshape(given, {PrimExpr(rows), PrimExpr(bytes)}), bits),
                                   {PrimExpr(rows), PrimExpr(bytes * per_byte)});
      zero = b.cast(b.unsqueeze(b.part(wide, 1, 0, blocks), 2), x.dtype());
    }
  }
  const Typed factor = b.cast(scale, x.dtype());
  const auto part = [&](const Typed& values) {
    return b.part(b.reshape(values, {PrimExpr(rows), PrimExpr(blocks * block)}), 1, 0, columns);
  };
  Typed weight;
  if (node.has(4)) {
    // The block of each column is another one than where it lies.
    const auto of_columns = [&](const Typed& values) {
      const Typed indices = b.part(node.input(4), 0, 0, columns);
      return b.gather(b.squeeze(values, 2), indices, 1);
    };
    const Typed origin = zero.rank() == 0 ? zero : of_columns(zero);
    weight = b.multiply(b.subtract(b.cast(part(whole), x.dtype()), origin), of_columns(factor));
  } else {
    weight = part(b.multiply(b.subtract(b.cast(whole, x.dtype()), zero), factor));
  }
  const Typed product = b.call("matmul", {x, weight}, {{"transpose_b", true}});
  return {node.has(5) ? b.add(product, node.input(5)) : product};
}

namespace {

// What a code of four bits stands for, times the greatest number of its block.
constexpr double kFloat4[] = {0.0,  0.005208333333,  0.66666667,  1.0,  0.33333333,  0.5,  0.16666667,  0.25,
                              -0.0, -0.005208333333, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr double kNormal4[] = {-1.0,
                               -0.6961928009986877,
                               -0.5250730514526367,
                               -0.39491748809814453,
                               -0.28444138169288635,
                               -0.18477343022823334,
                               -0.09105003625154495,
                               0.0,
                               0.07958029955625534,
                               0.16093020141124725,
                               0.24611230194568634,
                               0.33791524171829224,
                               0.44070982933044434,
                               0.5626170039176941,
                               0.7229568362236023,
                               1.0};

}  // namespace

// Weights [N, K] as codes of numbers, the first in the upper half of a byte, in blocks of the flat array.
Results convert_mat_mul_bnb4(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t block = node.integer("block_size", 0), type = node.integer("quant_type", -1);
  const int64_t rows = node.integer("N", 0), columns = node.integer("K", 0);
  constexpr int64_t kMost = int64_t{1} << 30;
  if (block < 1 || rows < 1 || columns < 1 || std::max({block, rows, columns}) > kMost || (type != 0 && type != 1))
    fail(ErrorCode::InvalidArgument, "quant_type {}, blocks of {}, {} x {} weights", type, block, rows, columns);
  const int64_t count = rows * columns, blocks = (count + block - 1) / block;
  const Typed bytes = b.unsqueeze(node.input(1), 1);
  const Typed halves[] = {b.call("right_shift", bytes, 4.0), b.call("bitwise_and", bytes, 15.0)};
  const Typed pairs = b.call_tuple("concat", halves, {{"axis", int64_t{1}}});
  const Typed codes = b.part(b.reshape(pairs, {ops::product(pairs.dims())}), 0, 0, count);
  auto table = make_tensor(nullptr, DType::Float32, std::vector<int64_t>{16});
  for (size_t i = 0; i < 16; ++i) table->elements<float>()[i] = static_cast<float>((type == 0 ? kFloat4 : kNormal4)[i]);
  const Typed numbers = b.gather(b.constant(std::move(table)), b.cast(codes, DType::Int64), 0);
  const Typed most = b.cast(b.reshape(node.input(2), {PrimExpr(blocks)}), DType::Float32);
  const Typed scales = b.part(b.call("repeat", {most}, {{"repeats", block}, {"axis", int64_t{0}}}), 0, 0, count);
  const Typed weight = b.reshape(b.cast(b.multiply(numbers, scales), x.dtype()), {PrimExpr(rows), PrimExpr(columns)});
  return {b.call("matmul", {x, weight}, {{"transpose_b", node.flag("transB", true)}})};
}

// Parts of a table along one axis, whose blocks along another or the same one have scales and zero points of their own.
// Bytes hold one number or two, the first in the lower half.
Results convert_gather_block_quantized(const Node& node) {
  auto& b = node.builder();
  const Typed &data = node.input(0), &scale = node.input(2);
  const int64_t bits = node.integer("bits", 4), block = node.integer("block_size", 128);
  if ((bits != 4 && bits != 8) || block < 1) fail(ErrorCode::Unsupported, "{} bits in blocks of {}", bits, block);
  const bool packed = data.stored == 0 && bits == 4;
  const int64_t axis = node.axis(node.integer("quantize_axis", 1), data.rank());
  const int64_t along = node.axis(node.integer("gather_axis", 0), data.rank());
  const auto last = static_cast<int64_t>(data.rank()) - 1;
  const auto unpacked = [&](const Typed& bytes) {
    if (!packed) return bytes;
    Dims dims = bytes.dims();
    dims.back() = dims.back() * 2;
    return b.reshape(unpack_bits(b, bytes, bits), dims);
  };
  // Bytes are taken apart after the gather, unless it runs along them.
  const bool early = along == last;
  const Typed table = early ? unpacked(data) : data;
  Typed indices = b.cast(node.input(1), DType::Int64);
  const Typed extent = b.tensor_of({table.dim(static_cast<size_t>(along))}, 0);
  indices = b.call("where", {b.call("less", indices, 0.0), b.add(indices, extent), indices});
  const Typed blocks = along == axis ? b.call("floor_divide", indices, static_cast<double>(block)) : indices;
  const auto gathered = [&](const Typed& from, const Typed& at) { return b.gather(from, at, along); };
  const auto whole = [&](const Typed& from, const Typed& at) {
    return b.cast(early ? gathered(from, at) : unpacked(gathered(from, at)), DType::Int32);
  };
  Typed value = whole(table, indices);
  const Typed scales = gathered(scale, blocks);
  const auto moved = axis > along ? axis + static_cast<int64_t>(indices.rank()) - 1 : axis;
  const auto over = [&](const Typed& x) { return along == axis ? x : spread(b, value, x, moved, block); };
  if (node.has(3)) {
    // Packed zero points may end with half a byte that says nothing.
    const auto cut = [&](const Typed& x, const Typed& like) {
      const auto count = like.dim(like.rank() - 1).as_const();
      return packed && count ? b.part(x, static_cast<int64_t>(x.rank()) - 1, 0, *count) : x;
    };
    const Typed zeros = early ? cut(unpacked(node.input(3)), scale) : node.input(3);
    value = b.subtract(value, over(early ? whole(zeros, blocks) : cut(whole(zeros, blocks), scales)));
  } else if (data.dtype() == DType::UInt8 && (packed || bits == 8)) {
    value = b.call("subtract", value, bits == 4 ? 8.0 : 128.0);
  }
  return {b.multiply(b.cast(value, scale.dtype()), over(scales))};
}

}  // namespace ingot::onnx_import
