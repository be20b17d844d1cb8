#include <limits>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

Results fold(const Node& node, std::string_view op) {
  Typed result = node.input(0);
  for (size_t i = 1; i < node.inputs(); ++i) result = node.builder().call(op, {result, node.input(i)});
  return {result};
}

double scalar_input(const Node& node, size_t i, double fallback) {
  if (!node.has(i)) return fallback;
  const TensorObject* tensor = node.input(i).constant();
  if (tensor == nullptr || tensor->dtype != DType::Float32 || tensor->bytes != sizeof(float))
    fail(ErrorCode::Unsupported, "input {} must be a constant float32 scalar", i);
  return static_cast<double>(*tensor->elements<float>());
}

}  // namespace

Results convert_same(const Node& node, std::string_view op) { return {node.builder().call(op, node.all_inputs())}; }

// Before opset 7 the second operand is aligned by hand: it covers dimensions `axis` and following of the first.
Results convert_binary(const Node& node, std::string_view op) {
  Typed right = node.input(1);
  if (node.opset() < 7 && node.integer("broadcast", 0) != 0 && node.find("axis") != nullptr) {
    const Typed& left = node.input(0);
    const int64_t axis = node.axis(node.integer("axis", 0), left.rank());
    const auto behind = static_cast<int64_t>(left.rank()) - axis - static_cast<int64_t>(right.rank());
    if (behind < 0)
      fail(ErrorCode::ShapeMismatch, "input 1 of rank {} does not fit at axis {} of rank {}", right.rank(), axis,
           left.rank());
    if (behind > 0)
      right = node.builder().call("expand_dims", {right},
                                  {{"axis", static_cast<int64_t>(right.rank())}, {"num_newaxis", behind}});
  }
  return {node.builder().call(op, {node.input(0), right})};
}

Results convert_sum(const Node& node) { return fold(node, "add"); }
Results convert_max(const Node& node) { return fold(node, "maximum"); }
Results convert_min(const Node& node) { return fold(node, "minimum"); }

Results convert_leaky_relu(const Node& node) {
  return {node.builder().call("leaky_relu", {node.input(0)}, {{"alpha", node.number("alpha", 0.01)}})};
}

Results convert_elu(const Node& node) {
  return {node.builder().call("elu", {node.input(0)}, {{"alpha", node.number("alpha", 1.0)}})};
}

Results convert_clip(const Node& node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double low = node.opset() < 11 ? node.number("min", -kInfinity) : scalar_input(node, 1, -kInfinity);
  const double high = node.opset() < 11 ? node.number("max", kInfinity) : scalar_input(node, 2, kInfinity);
  return {node.builder().call("clip", {node.input(0)}, {{"a_min", low}, {"a_max", high}})};
}

Results convert_cast(const Node& node) {
  return {
      node.builder().call("cast", {node.input(0)}, {{"dtype", dtype_of(static_cast<int32_t>(node.integer("to", 0)))}})};
}

Results convert_dropout(const Node& node) { return {node.input(0)}; }

}  // namespace ingot::onnx_import
