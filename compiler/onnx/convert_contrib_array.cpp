#include "compiler/onnx/conversions.h"
#include "compiler/onnx/quantized.h"
#include "compiler/onnx/spatial.h"
#include "compiler/ops/operands.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

// Operators of com.microsoft on whole arrays: those that later became part of the standard, padding of batches, and
// what decoders need.
namespace ingot::onnx_import {

Results convert_ms_pad(const Node& node) { return convert_pad(node.as_of(18)); }
Results convert_ms_gather_nd(const Node& node) { return convert_gather_nd(node.as_of(13)); }

// start, limit and perhaps a step
Results convert_ms_range(const Node& node) {
  if (node.has(2)) return convert_range(node);
  return convert_range(node.with_input(2, node.builder().scalar(node.input(0).dtype(), 1)));
}

// The axis is a scalar input.
Results convert_ms_expand_dims(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto axis = node.constant_integers(1);
  if (axis.size() != 1) fail(ErrorCode::ShapeMismatch, "input 1 has {} elements, it must have 1", axis.size());
  return {b.unsqueeze(x, node.axis(axis[0], x.rank() + 1))};
}

// What is unique in the order of its first place, where each element went, and how often each is there.
Results convert_ms_unique(const Node& node) {
  auto& b = node.builder();
  const Typed all = b.builtin("unique", {node.input(0), b.none(), b.prim(0)}, object_info());
  const auto field = [&](int64_t i, DType dtype) {
    return b.builtin("sequence_at", {all, b.prim(i)}, tensor_info(dtype, uint32_t{1}));
  };
  return {field(0, node.input(0).dtype()), field(2, DType::Int64), field(3, DType::Int64)};
}

Results convert_ms_inverse(const Node& node) {
  const Typed& x = node.input(0);
  if (x.rank() < 2) fail(ErrorCode::ShapeMismatch, "input 0 has rank {}, it must have 2 or more", x.rank());
  return {node.builder().builtin("inverse", {x}, x.info)};
}

// Distances of the rows of one matrix from those of the other.
Results convert_c_dist(const Node& node) {
  auto& b = node.builder();
  const std::string metric = node.choice("metric", "sqeuclidean", {"euclidean", "sqeuclidean"});
  const Typed difference = b.subtract(b.unsqueeze(node.input(0), 1), b.unsqueeze(node.input(1), 0));
  const Typed square = b.call("sum", {b.multiply(difference, difference)}, {{"axis", std::vector<int64_t>{2}}});
  return {metric == "euclidean" ? b.call("sqrt", {square}) : square};
}

// data, bias, residual, ratio, is it training?
Results convert_bias_dropout(const Node& node) {
  auto& b = node.builder();
  const auto trains = node.has(4) ? known_integers(node.input(4)) : std::vector<int64_t>{0};
  if (!trains || trains->size() != 1 || trains->front() != 0)
    fail(ErrorCode::Unsupported, "training_mode, input 4, must be a constant that is false");
  Typed y = b.add(node.input(0), node.input(1));
  if (node.has(2)) y = b.add(y, node.input(2));
  return {y, b.call("full", {b.scalar(DType::Bool, 1), b.shape(y.dims())})};
}

// Scores of tokens that would make the last tokens a run that was there before become -infinity.
Results convert_n_gram_repeat_block(const Node& node) {
  auto& b = node.builder();
  const int64_t size = node.integer("ngram_size", 0);
  constexpr int64_t kMost = 1000;
  if (size < 1 || size > kMost) fail(ErrorCode::InvalidArgument, "ngram_size is {}", size);
  const Typed tokens = b.cast(node.input(0), DType::Int64);
  const Typed& scores = node.input(1);
  const auto length = tokens.dim(1).as_const();
  if (length && *length < size) return {scores};
  // Runs of the past begin at each place but the last, which is the run at hand.
  const auto column = [&](int64_t i) { return b.part(tokens, 1, i, i - size + 1 == 0 ? INT64_MAX : i - size + 1); };
  const Typed next = column(size - 1);
  Typed same = b.call("equal", {next, next});
  for (int64_t i = 0; i + 1 < size; ++i) {
    const int64_t at = i - size + 1;
    same = b.call("logical_and",
                  {same, b.call("equal", {column(i), b.part(tokens, 1, at, at == -1 ? INT64_MAX : at + 1)})});
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const Typed bound = b.call("where", {same, b.scalar(scores.dtype(), -infinity), b.scalar(scores.dtype(), infinity)});
  return {b.call("scatter_elements", {scores, next, bound}, {{"axis", int64_t{1}}, {"reduction", std::string("min")}})};
}

// Windows of `size` places along a dimension, `step` apart, in a new last dimension.
Results convert_unfold_tensor(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t axis = node.axis(node.integer("dim", -1), x.rank());
  const int64_t size = node.integer("size", 0), step = node.integer("step", 1);
  if (size < 1 || step < 1) fail(ErrorCode::InvalidArgument, "windows of {} each {}", size, step);
  const PrimExpr count = simplify(floor_div(x.dim(static_cast<size_t>(axis)) - size, step) + 1);
  const Typed first = b.unsqueeze(b.call("multiply", b.positions(count), static_cast<double>(step)), 1);
  const Typed windows = b.gather(x, b.add(first, b.positions(size)), axis);
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < static_cast<int64_t>(windows.rank()); ++d)
    if (d != axis + 1) axes.push_back(d);
  axes.push_back(axis + 1);
  return {b.transpose(windows, axes)};
}

// C = (A - zero point) * (B - zero point)
Results convert_mul_integer(const Node& node) {
  auto& b = node.builder();
  return {b.multiply(centred(b, node.input(0), optional(node, 1), 0), centred(b, node.input(2), optional(node, 3), 0))};
}

Results convert_mat_mul_integer16(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &y = node.input(1);
  const bool plain = x.dtype() == DType::UInt16 && y.dtype() == DType::UInt16;
  const DType wide = plain ? DType::UInt32 : DType::Int32;
  return {b.call("matmul", {b.cast(x, wide), b.cast(y, wide)})};
}

Results convert_reduce_sum_integer(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const DType wide = x.dtype() == DType::UInt8 ? DType::UInt32 : DType::Int32;
  auto axes = node.integers("axes");
  if (!axes) fail(ErrorCode::InvalidArgument, "attribute axes is missing");
  for (auto& axis : *axes) axis = node.axis(axis, x.rank());
  return {b.call("sum", {b.cast(x, wide)}, {{"axis", *axes}, {"keepdims", node.flag("keepdims", true)}})};
}

}  // namespace ingot::onnx_import
