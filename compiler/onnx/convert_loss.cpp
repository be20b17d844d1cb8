#include "compiler/onnx/conversions.h"
#include "compiler/ops/operands.h"
#include "runtime/base/error.h"

// Losses over classes: scores [N, C, ...], labels [N, ...].
namespace ingot::onnx_import {
namespace {

Typed loss(const Node& node, const Typed& log_probabilities, const Typed& given, size_t weight_input) {
  auto& b = node.builder();
  const std::string reduction = node.choice("reduction", "mean", {"none", "mean", "sum"});
  const DType dtype = log_probabilities.dtype();
  Typed labels = b.cast(given, DType::Int64);
  std::optional<Typed> ignored;
  if (node.find("ignore_index") != nullptr) {
    ignored = b.call("equal", labels, static_cast<double>(node.integer("ignore_index", 0)));
    labels = b.call("where", {*ignored, b.scalar(DType::Int64, 0), labels});
  }
  const Typed picked =
      b.squeeze(b.call("gather_elements", {log_probabilities, b.unsqueeze(labels, 1)}, {{"axis", int64_t{1}}}), 1);
  Typed each = b.call("negative", {picked});
  std::optional<Typed> weights;
  if (node.has(weight_input)) weights = b.gather(node.input(weight_input), labels, 0);
  if (ignored) {
    const Typed ones = weights ? *weights : b.cast(b.call("logical_not", {*ignored}), dtype);
    weights = b.call("where", {*ignored, b.scalar(dtype, 0), ones});
    each = b.call("where", {*ignored, b.scalar(dtype, 0), each});
  }
  if (weights) each = b.multiply(each, *weights);
  if (reduction == "none") return each;
  const Typed sum = b.call("sum", {each});
  if (reduction == "sum") return sum;
  if (weights) return b.divide(sum, b.call("sum", {*weights}));
  return b.call("mean", {each});
}

}  // namespace

Results convert_negative_log_likelihood_loss(const Node& node) { return {loss(node, node.input(0), node.input(1), 2)}; }

Results convert_softmax_cross_entropy_loss(const Node& node) {
  const Typed log_probabilities = node.builder().call("log_softmax", {node.input(0)}, {{"axis", int64_t{1}}});
  return {loss(node, log_probabilities, node.input(1), 2), log_probabilities};
}

}  // namespace ingot::onnx_import
