#include <algorithm>
#include <cstring>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

// Axes as an attribute or, from the opset on that moved them there, as an input.
std::optional<std::vector<int64_t>> axes(const Node& node, size_t input) {
  if (auto attribute = node.integers("axes")) return attribute;
  if (node.has(input)) return node.constant_integers(input);
  return std::nullopt;
}

// Before opset 13 the tensor is taken as a matrix: the dimensions before `axis`, and those from it on.
Results softmax(const Node& node, std::string_view op) {
  const Typed& data = node.input(0);
  const int64_t axis = node.axis(node.integer("axis", node.opset() < 13 ? 1 : -1), data.rank());
  auto& builder = node.builder();
  if (node.opset() >= 13 || axis + 1 == static_cast<int64_t>(data.rank()))
    return {builder.call(op, {data}, {{"axis", axis}})};
  const Typed matrix = builder.call("flatten", {data}, {{"axis", axis}});
  const Typed result = builder.call(op, {matrix}, {{"axis", int64_t{1}}});
  const Typed shape{std::make_shared<ir::Shape>(*data.info->dims, ir::Span{}), shape_info(*data.info->dims)};
  return {builder.call("reshape", {result, shape})};
}

}  // namespace

Results convert_softmax(const Node& node) { return softmax(node, "softmax"); }
Results convert_log_softmax(const Node& node) { return softmax(node, "log_softmax"); }

Results convert_reshape(const Node& node) {
  const auto attribute = node.integers("shape");
  const std::vector<int64_t> shape = attribute ? *attribute : node.constant_integers(1);
  return {node.builder().call("reshape", {node.input(0)},
                              {{"newshape", shape}, {"allowzero", node.integer("allowzero", 0) != 0}})};
}

Results convert_flatten(const Node& node) {
  const auto rank = static_cast<int64_t>(node.input(0).rank());
  const int64_t given = node.integer("axis", 1);
  if (given < -rank || given > rank) fail(ErrorCode::IndexOutOfRange, "axis {} is outside of rank {}", given, rank);
  return {node.builder().call("flatten", {node.input(0)}, {{"axis", given < 0 ? given + rank : given}})};
}

Results convert_transpose(const Node& node) {
  ir::Attrs attrs;
  if (auto perm = node.integers("perm")) attrs["axes"] = *std::move(perm);
  return {node.builder().call("transpose", {node.input(0)}, std::move(attrs))};
}

Results convert_concat(const Node& node) {
  const int64_t fallback = node.opset() < 4 ? 1 : 0;
  return {node.builder().call_tuple("concat", node.all_inputs(), {{"axis", node.integer("axis", fallback)}})};
}

Results convert_unsqueeze(const Node& node) {
  auto list = axes(node, 1);
  if (!list) fail(ErrorCode::InvalidArgument, "axes are missing");
  Typed result = node.input(0);
  const size_t rank = result.rank() + list->size();
  for (auto& axis : *list) axis = node.axis(axis, rank);
  std::ranges::sort(*list);
  if (std::ranges::adjacent_find(*list) != list->end()) fail(ErrorCode::InvalidArgument, "an axis is given twice");
  for (const int64_t axis : *list) result = node.builder().call("expand_dims", {result}, {{"axis", axis}});
  return {result};
}

Results convert_squeeze(const Node& node) {
  ir::Attrs attrs;
  if (auto list = axes(node, 1)) attrs["axis"] = *std::move(list);
  return {node.builder().call("squeeze", {node.input(0)}, std::move(attrs))};
}

Results convert_reduce_mean(const Node& node) {
  ir::Attrs attrs = {{"keepdims", node.integer("keepdims", 1) != 0}};
  if (auto list = axes(node, 1)) attrs["axis"] = *std::move(list);
  return {node.builder().call("mean", {node.input(0)}, std::move(attrs))};
}

Results convert_constant(const Node& node) {
  const auto* value = node.find("value");
  if (value == nullptr || !value->has_t())
    fail(ErrorCode::Unsupported, "only constants with attribute value are supported");
  return {node.builder().constant(read_tensor(value->t()))};
}

Results convert_constant_of_shape(const Node& node) {
  const auto dims = node.constant_integers(0);
  const auto* value = node.find("value");
  const auto element = value != nullptr ? read_tensor(value->t()) : Ref<TensorObject>();
  if (element && element->bytes != dtype_bytes(element->dtype))
    fail(ErrorCode::ShapeMismatch, "value must have one element, it has shape {}", shape_text(element->dims()));
  const DType dtype = element ? element->dtype : DType::Float32;
  auto result = make_tensor(nullptr, dtype, dims);
  const size_t bytes = dtype_bytes(dtype);
  if (result->bytes != 0) {
    if (element) {
      std::memcpy(result->data, element->data, bytes);
    } else {
      std::memset(result->data, 0, bytes);
    }
    // Each copy doubles what is filled.
    for (size_t filled = bytes; filled < result->bytes; filled *= 2)
      std::memcpy(result->data + filled, result->data, std::min(filled, result->bytes - filled));
  }
  return {node.builder().constant(std::move(result))};
}

}  // namespace ingot::onnx_import
