#include "compiler/onnx/node.h"

#include <algorithm>

#include "compiler/onnx/conversions.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

struct Entry {
  std::string_view name;
  Convert convert;
};

constexpr Entry kConversions[] = {
#define SAME(name, op) {#name, [](const Node& node) { return convert_same(node, op); }},
#define BINARY(name, op) {#name, [](const Node& node) { return convert_binary(node, op); }},
#define CONVERT(name, function) {#name, function},
#include "compiler/onnx/onnx_ops.def"
};

}  // namespace

Convert find_conversion(std::string_view op) {
  const auto* found = std::ranges::find(kConversions, op, &Entry::name);
  return found == std::end(kConversions) ? nullptr : found->convert;
}

const Typed& Node::input(size_t i) const {
  if (!has(i)) fail(ErrorCode::ArityMismatch, "input {} is missing", i);
  return *inputs_[i];
}

std::vector<Typed> Node::all_inputs() const {
  std::vector<Typed> all;
  for (size_t i = 0; i < inputs_.size(); ++i) all.push_back(input(i));
  return all;
}

std::vector<int64_t> Node::constant_integers(size_t i) const {
  const TensorObject* tensor = input(i).constant();
  if (tensor == nullptr)
    fail(ErrorCode::Unsupported, "input {} ({}) must be a constant", i, proto_->input(static_cast<int>(i)));
  const size_t count = tensor->bytes / dtype_bytes(tensor->dtype);
  if (tensor->dtype == DType::Int64) return {tensor->elements<int64_t>(), tensor->elements<int64_t>() + count};
  if (tensor->dtype == DType::Int32) return {tensor->elements<int32_t>(), tensor->elements<int32_t>() + count};
  fail(ErrorCode::TypeError, "input {} ({}) has dtype {}, expected int64", i, proto_->input(static_cast<int>(i)),
       dtype_name(tensor->dtype));
}

const onnx::AttributeProto* Node::find(std::string_view name) const {
  for (const auto& attribute : proto_->attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

int64_t Node::integer(std::string_view name, int64_t fallback) const {
  const auto* attribute = find(name);
  return attribute == nullptr ? fallback : attribute->i();
}

double Node::number(std::string_view name, double fallback) const {
  const auto* attribute = find(name);
  return attribute == nullptr ? fallback : static_cast<double>(attribute->f());
}

std::string Node::text(std::string_view name, std::string_view fallback) const {
  const auto* attribute = find(name);
  return attribute == nullptr ? std::string(fallback) : attribute->s();
}

std::optional<std::vector<int64_t>> Node::integers(std::string_view name) const {
  const auto* attribute = find(name);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

int64_t Node::axis(int64_t axis, size_t rank) const {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) fail(ErrorCode::IndexOutOfRange, "axis {} is outside of rank {}", axis, rank);
  return axis < 0 ? axis + size : axis;
}

}  // namespace ingot::onnx_import
