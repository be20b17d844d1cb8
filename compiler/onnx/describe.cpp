#include "compiler/onnx/describe.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/onnx/model_file.h"
#include "compiler/onnx/node.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

std::string type_text(const onnx::TypeProto& type, const std::string& name) {
  if (type.has_sequence_type()) return "sequence of " + type_text(type.sequence_type().elem_type(), name);
  if (type.has_optional_type()) return "optional of " + type_text(type.optional_type().elem_type(), name);
  try {
    return to_text(info_of(type, name, [](const std::string& dim) { return PrimExpr(make_sym_var(dim)); }));
  } catch (const Error& error) {
    return error.what();
  }
}

class Counter {
 public:
  explicit Counter(const onnx::ModelProto& model) {
    for (const auto& function : model.functions())
      functions_.emplace(normal_domain(function.domain()), function.name());
    nodes(model.graph().node());
    for (const auto& function : model.functions()) nodes(function.node());
  }

  std::vector<ModelDescription::Operator> operators() const {
    std::vector<ModelDescription::Operator> result;
    for (const auto& [op, count] : counts_) {
      const auto& [domain, name] = op;
      // The gradient is made by the importer itself.
      const bool known = find_conversion(domain, name) != nullptr || functions_.contains(op) ||
                         (domain == "ai.onnx.preview.training" && name == "Gradient");
      result.push_back({domain.empty() ? name : fmt::format("{}.{}", domain, name), count, known});
    }
    return result;
  }

 private:
  void nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& list) {
    // Graphs inside of graphs wait in a list: they may be nested deeply.
    std::vector<const google::protobuf::RepeatedPtrField<onnx::NodeProto>*> pending = {&list};
    while (!pending.empty()) {
      const auto* now = pending.back();
      pending.pop_back();
      for (const auto& node : *now) {
        ++counts_[{std::string(normal_domain(node.domain())), node.op_type()}];
        for (const auto& attribute : node.attribute()) {
          if (attribute.has_g()) pending.push_back(&attribute.g().node());
          for (const auto& graph : attribute.graphs()) pending.push_back(&graph.node());
        }
      }
    }
  }

  using Name = std::pair<std::string, std::string>;
  std::set<Name> functions_;
  std::map<Name, size_t> counts_;
};

}  // namespace

ModelDescription describe_model(const std::filesystem::path& path) {
  const onnx::ModelProto model = read_model(path);
  const auto& graph = model.graph();
  ModelDescription result;
  result.producer = model.producer_name() + (model.producer_version().empty() ? "" : " " + model.producer_version());
  for (const auto& import : model.opset_import())
    result.opsets.push_back({std::string(normal_domain(import.domain())), import.version()});
  std::set<std::string> initializers;
  for (const auto& initializer : graph.initializer()) initializers.insert(initializer.name());
  for (const auto& input : graph.input())
    if (!initializers.contains(input.name()))
      result.inputs.push_back({input.name(), type_text(input.type(), input.name())});
  for (const auto& output : graph.output())
    result.outputs.push_back({output.name(), type_text(output.type(), output.name())});
  result.operators = Counter(model).operators();
  result.functions = static_cast<size_t>(model.functions_size());
  return result;
}

}  // namespace ingot::onnx_import
