#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "compiler/onnx/graph_builder.h"

namespace ingot::onnx_import {

// One node while it is converted: its operands, attributes and the builder. Accessors throw in the words of the model:
// "input 1 (W) is missing".
class Node {
 public:
  Node(const onnx::NodeProto& proto, int64_t opset, std::vector<std::optional<Typed>> inputs, GraphBuilder& builder)
      : proto_(&proto), opset_(opset), inputs_(std::move(inputs)), builder_(&builder) {}

  std::string_view op() const { return proto_->op_type(); }
  // The version of the operator set that the model imports.
  int64_t opset() const { return opset_; }
  GraphBuilder& builder() const { return *builder_; }

  size_t inputs() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i].has_value(); }
  const Typed& input(size_t i) const;
  // All inputs, none of which may be missing.
  std::vector<Typed> all_inputs() const;
  // The elements of an integer input that must be a constant.
  std::vector<int64_t> constant_integers(size_t i) const;
  size_t outputs() const { return static_cast<size_t>(proto_->output_size()); }
  // Is output `i` there and named?
  bool wants(size_t i) const { return i < outputs() && !proto_->output(static_cast<int>(i)).empty(); }

  const onnx::AttributeProto* find(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t fallback) const;
  double number(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  // `axis` brought into [0, rank).
  int64_t axis(int64_t axis, size_t rank) const;

 private:
  const onnx::NodeProto* proto_;
  int64_t opset_;
  std::vector<std::optional<Typed>> inputs_;
  GraphBuilder* builder_;
};

// What a node becomes: one value for each of its outputs; a missing one at the end means that the conversion does not
// give it.
using Results = std::vector<Typed>;
using Convert = Results (*)(const Node& node);

// The conversion of an operator of the default domain; null where there is none.
Convert find_conversion(std::string_view op);

}  // namespace ingot::onnx_import
