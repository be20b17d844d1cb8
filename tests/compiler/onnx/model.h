#pragma once
#include <chrono>
#include <ctime>
#include <initializer_list>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

#include "compiler/onnx/import.h"
#include "runtime/base/error.h"

// Models made in tests.
namespace ingot::onnx_import::test {

inline onnx::ModelProto empty_model(int64_t opset = 16) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("g");
  return model;
}

inline void set_tensor(onnx::ValueInfoProto& info, const std::string& name, int32_t type,
                       std::initializer_list<int64_t> dims) {
  info.set_name(name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const int64_t dim : dims) tensor->mutable_shape()->add_dim()->set_dim_value(dim);
}

inline onnx::NodeProto& add_node(onnx::GraphProto& graph, const std::string& op,
                                 std::initializer_list<std::string> inputs,
                                 std::initializer_list<std::string> outputs) {
  auto& node = *graph.add_node();
  node.set_op_type(op);
  for (const auto& input : inputs) node.add_input(input);
  for (const auto& output : outputs) node.add_output(output);
  return node;
}

inline onnx::GraphProto& add_graph(onnx::NodeProto& node, const std::string& attribute) {
  auto& added = *node.add_attribute();
  added.set_name(attribute);
  added.set_type(onnx::AttributeProto::GRAPH);
  return *added.mutable_g();
}

inline ir::Module import(const onnx::ModelProto& model, const ImportOptions& options = {}) {
  const std::string bytes = model.SerializeAsString();
  ir::Diagnostics diagnostics;
  return import_model(std::as_bytes(std::span(bytes.data(), bytes.size())), "m.onnx", options, diagnostics);
}

// "Code: text" of what importing throws; empty where it succeeds.
inline std::string import_error(const onnx::ModelProto& model) {
  try {
    import(model);
  } catch (const Error& error) {
    return std::string(error.label()) + ": " + error.what();
  }
  return "";
}

// Seconds of processor time.
template <typename Body>
double processor_seconds(const Body& body) {
  const std::clock_t start = std::clock();
  body();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace ingot::onnx_import::test
