#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/onnx/node.h"

namespace ingot::onnx_import {

// Walks graphs, and graphs and functions inside of them, and has each node converted. Names are looked up from the
// innermost graph outwards; those of a model-local function see nothing outside of it.
class GraphImporter final : public Subgraphs {
 public:
  // The model outlives the importer. Throws Unsupported with everything that has no conversion, in one report.
  GraphImporter(const onnx::ModelProto& model, std::shared_ptr<const ir::Source> source, std::string folder);

  GraphBuilder& builder() { return builder_; }
  ir::Span span(std::string node) const;
  // The variable of a named dimension.
  SymVar dimension(const std::string& name);

  void define(const std::string& name, Typed value);
  bool defined(const std::string& name) const { return scopes_.back().values.contains(name); }
  // Initializers, then nodes, in the scope at hand; gives the outputs.
  std::vector<Typed> run(const onnx::GraphProto& graph);
  void initializers(const onnx::GraphProto& graph);

  std::vector<Typed> convert(const onnx::GraphProto& graph, std::span<const Typed> inputs) override;

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  struct Scope {
    std::unordered_map<std::string, Typed> values;
    std::unordered_set<std::string> missing;  // outputs that a conversion did not give, optional inputs not given
    const Nodes* nodes = nullptr;
    const onnx::GraphProto* graph = nullptr;
    bool function = false;
  };
  using Opsets = std::map<std::string, int64_t, std::less<>>;

  static std::string describe(const onnx::NodeProto& node, int index);
  static std::string function_key(std::string_view domain, std::string_view name);
  void read_opsets(const onnx::ModelProto& model);
  void find_missing(const Nodes& nodes, const std::string& where,
                    std::map<std::string, std::vector<std::string>>& missing, size_t depth);
  int64_t opset(std::string_view domain) const;
  using Outputs = std::function<std::vector<Typed>()>;
  std::vector<Typed> in_scope(Scope scope, const Outputs& body);
  // In a new scope of the graph that had the innermost of these scopes; those behind it are not seen.
  std::vector<Typed> in_graph(size_t scopes, const Outputs& body);
  struct Walked {
    std::vector<Typed> results;
    bool all = false;  // of what comes after the nodes too
  };
  // The nodes from `first` on, then the outputs. What follows an if whose branches give tensors of different ranks is
  // built in each branch; so is what comes `after` these nodes, where they are those of a branch that is known.
  Walked walk(const Nodes& nodes, int first, const Outputs& outputs, const GraphBuilder::Rest& after = nullptr);
  Walked walk(const onnx::GraphProto& graph, const GraphBuilder::Rest& after = nullptr);
  // What follows, where the node has taken it over.
  std::optional<std::vector<Typed>> node(const onnx::NodeProto& proto, int index, const Outputs& rest);
  void define_outputs(const onnx::NodeProto& proto, std::vector<Typed> results);
  std::vector<Typed> call_function(const onnx::NodeProto& node, const onnx::FunctionProto& function,
                                   std::vector<std::optional<Typed>> inputs);
  std::vector<Typed> gradient(const onnx::NodeProto& node, int index);
  onnx::NodeProto resolved(const onnx::NodeProto& node) const;
  // Is it an output that a node does not give, or an optional input that is not given?
  bool lacks(const std::string& name) const;
  std::optional<Typed> find(const std::string& name) const;
  Typed value(const std::string& name) const;
  // The type that the graph at hand gives a name; null where it gives none.
  const onnx::TypeProto* declared(const std::string& name);
  Typed refined(const std::string& name, Typed value);
  // Does the graph at hand give the rank of the node's first output?
  bool declares_rank(const onnx::NodeProto& node);

  std::shared_ptr<const ir::Source> source_;
  std::string folder_;
  GraphBuilder builder_;
  Opsets opsets_;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
  std::vector<std::string> active_functions_;
  size_t converted_ = 0, most_nodes_ = 0;                                       // nodes
  std::map<std::string, const onnx::AttributeProto*, std::less<>> attributes_;  // of the function at hand
  std::unordered_map<std::string, SymVar> dims_;
  std::unordered_map<const onnx::GraphProto*, std::unordered_map<std::string_view, const onnx::TypeProto*>> declared_;
};

}  // namespace ingot::onnx_import
