#include <nlohmann/json.hpp>

#include "compiler/driver/commands.h"
#include "compiler/driver/compile.h"
#include "compiler/onnx/describe.h"

namespace ingot::driver {
namespace {

using onnx_import::ModelDescription;

nlohmann::json to_json(const ModelDescription& model) {
  const auto values = [](const std::vector<ModelDescription::Value>& list) {
    auto result = nlohmann::json::array();
    for (const auto& value : list) result.push_back({{"name", value.name}, {"type", value.type}});
    return result;
  };
  auto opsets = nlohmann::json::object();
  for (const auto& opset : model.opsets) opsets[opset.domain] = opset.version;
  auto operators = nlohmann::json::array();
  for (const auto& op : model.operators)
    operators.push_back({{"name", op.name}, {"count", op.count}, {"supported", op.supported}});
  return {{"producer", model.producer},       {"opsets", opsets},       {"inputs", values(model.inputs)},
          {"outputs", values(model.outputs)}, {"operators", operators}, {"functions", model.functions}};
}

void print(const ModelDescription& model) {
  if (!model.producer.empty()) tool::print_line(fmt::format("producer  {}", model.producer));
  for (const auto& opset : model.opsets)
    tool::print_line(fmt::format("opset     {}{}", opset.version, opset.domain.empty() ? "" : " of " + opset.domain));
  for (const auto& input : model.inputs) tool::print_line(fmt::format("input     {}: {}", input.name, input.type));
  for (const auto& output : model.outputs) tool::print_line(fmt::format("output    {}: {}", output.name, output.type));
  if (model.functions != 0) tool::print_line(fmt::format("functions {}", model.functions));
  size_t missing = 0;
  for (const auto& op : model.operators) {
    tool::print_line(fmt::format("{:>9} {}{}", op.count, op.name, op.supported ? "" : "   not supported"));
    if (!op.supported) ++missing;
  }
  if (missing != 0)
    tool::print_line(fmt::format("{} of {} operators are not supported", missing, model.operators.size()));
}

}  // namespace

void inspect_model(const std::string& path, bool json) {
  ModelDescription model;
  on_large_stack([&] { model = onnx_import::describe_model(path); });
  if (json) {
    tool::print_line(to_json(model).dump(2));
  } else {
    print(model);
  }
}

}  // namespace ingot::driver
