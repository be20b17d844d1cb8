#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "compiler/onnx/graph_builder.h"

namespace ingot::onnx_import {

// Converts graphs inside of graphs, where their names can be seen.
class Subgraphs {
 public:
  virtual ~Subgraphs() = default;
  // Appends the nodes of the graph; its inputs are these values.
  virtual std::vector<Typed> convert(const onnx::GraphProto& graph, std::span<const Typed> inputs) = 0;
};

// One node while it is converted: its operands, attributes and the builder. Accessors throw in the words of the model:
// "input 1 (W) is missing".
class Node {
 public:
  Node(const onnx::NodeProto& proto, int64_t opset, std::vector<std::optional<Typed>> inputs, GraphBuilder& builder,
       Subgraphs& subgraphs)
      : proto_(&proto), opset_(opset), inputs_(std::move(inputs)), builder_(&builder), subgraphs_(&subgraphs) {}

  std::string_view op() const { return proto_->op_type(); }
  // The version of the operator's set that the model imports.
  int64_t opset() const { return opset_; }
  GraphBuilder& builder() const { return *builder_; }
  // The same node as another version of the standard has it: operators of other domains share conversions.
  Node as_of(int64_t opset) const {
    Node copy = *this;
    copy.opset_ = opset;
    return copy;
  }
  // The same node with another value as input `i`.
  Node with_input(size_t i, Typed value) const {
    Node copy = *this;
    copy.inputs_.resize(std::max(copy.inputs_.size(), i + 1));
    copy.inputs_[i] = std::move(value);
    return copy;
  }
  // The same node as if it had `count` inputs at most.
  Node without_inputs_from(size_t count) const {
    Node copy = *this;
    copy.inputs_.resize(std::min(copy.inputs_.size(), count));
    return copy;
  }

  size_t inputs() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i].has_value(); }
  const Typed& input(size_t i) const;
  // All inputs, none of which may be missing.
  std::vector<Typed> all_inputs() const;
  // Input `i` or none, as an argument of a builtin.
  Typed input_or_none(size_t i) const { return has(i) ? input(i) : builder_->none(); }
  // The elements of an integer input where they are known when the model is compiled.
  std::optional<std::vector<int64_t>> known(size_t i) const;
  // The elements of an integer input that must be a constant.
  std::vector<int64_t> constant_integers(size_t i) const;
  // How many elements input `i`, of rank 1, has; Unsupported where that is not known.
  size_t length(size_t i) const;
  // ONNX's number of the type that input `i`, or else attribute output_dtype, stores numbers in; 0 for usual dtypes.
  int32_t storage_type(size_t i) const;
  size_t outputs() const { return static_cast<size_t>(proto_->output_size()); }
  // Is output `i` there and named?
  bool wants(size_t i) const { return i < outputs() && !proto_->output(static_cast<int>(i)).empty(); }

  const onnx::AttributeProto* find(std::string_view name) const;
  // The following give the attribute or, where it is not there, the fallback or nothing. TypeError where it has another
  // type, InvalidArgument where its value is not one of those named.
  int64_t integer(std::string_view name, int64_t fallback) const;
  int64_t integer(std::string_view name, int64_t fallback, int64_t least, int64_t most = INT64_MAX) const;
  bool flag(std::string_view name, bool fallback = false) const { return integer(name, fallback ? 1 : 0, 0, 1) != 0; }
  // ONNX's number of an element type.
  int32_t element_type(std::string_view name, int32_t fallback = 0) const;
  double number(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::string choice(std::string_view name, std::string_view fallback,
                     std::initializer_list<std::string_view> allowed) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  // `count` integers between bounds.
  std::vector<int64_t> integers(std::string_view name, size_t count, int64_t fallback, int64_t least,
                                int64_t most = INT64_MAX) const;
  std::optional<std::vector<double>> numbers(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  // A list as an attribute or, where that is not there, as the known elements of an input; nullopt: neither.
  std::optional<std::vector<int64_t>> integers(std::string_view name, size_t input) const;
  const onnx::GraphProto& graph(std::string_view name) const;
  std::vector<Typed> subgraph(std::string_view name, std::span<const Typed> inputs) const {
    return subgraphs_->convert(graph(name), inputs);
  }
  // `axis` brought into [0, rank).
  int64_t axis(int64_t axis, size_t rank) const;
  // InvalidArgument where an axis is there twice.
  void require_distinct(std::vector<int64_t> axes) const;

 private:
  // The attribute, which must have this type where it says its type.
  const onnx::AttributeProto* find(std::string_view name, onnx::AttributeProto::AttributeType type) const;

  const onnx::NodeProto* proto_;
  int64_t opset_;
  std::vector<std::optional<Typed>> inputs_;
  GraphBuilder* builder_;
  Subgraphs* subgraphs_;
};

// What a node becomes: one value for each of its outputs; a missing one at the end means that the conversion does not
// give it.
using Results = std::vector<Typed>;
using Convert = Results (*)(const Node& node);

// "", "com.microsoft", ...: "ai.onnx" is "".
std::string_view normal_domain(std::string_view domain);
// The conversion of an operator; null where there is none.
Convert find_conversion(std::string_view domain, std::string_view op);

// What a type of the model says; named dimensions by `dimension`, others get fresh variables.
StructInfo info_of(const onnx::TypeProto& type, std::string_view name,
                   const std::function<PrimExpr(const std::string&)>& dimension);
// Dtype and rank of a tensor, as far as they are told; Object for other types.
StructInfo rank_of(const onnx::TypeProto& type);
// What the elements of a sequence are, also of one in an optional; null for other types.
StructInfo element_of(const onnx::TypeProto& type);
// What the tensor in an optional is; null for other types.
StructInfo content_of(const onnx::TypeProto& type);

}  // namespace ingot::onnx_import
