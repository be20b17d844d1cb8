#include "compiler/onnx/import.h"

#include "compiler/onnx/graph_importer.h"
#include "compiler/onnx/model_file.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace ingot::onnx_import {
namespace {

StructInfo input_info(const onnx::ValueInfoProto& input, const ImportOptions& options, GraphImporter& importer) {
  const auto given = options.shapes.find(input.name());
  if (given == options.shapes.end())
    return info_of(input.type(), input.name(),
                   [&](const std::string& name) { return PrimExpr(importer.dimension(name)); });
  const auto& type = input.type().tensor_type();
  if (type.has_shape() && static_cast<size_t>(type.shape().dim_size()) != given->second.size())
    fail(ErrorCode::ShapeMismatch, "--shape gives input '{}' rank {}, the model says {}", input.name(),
         given->second.size(), type.shape().dim_size());
  return tensor_info(dtype_of(type.elem_type()), Dims(given->second.begin(), given->second.end()));
}

ir::Module import_graph(const onnx::ModelProto& model, const ImportOptions& options, const std::string& name,
                        const std::string& folder) {
  const auto& graph = model.graph();
  GraphImporter importer(model, std::make_shared<ir::Source>(ir::Source{name, {}}), folder);
  importer.initializers(graph);
  for (const auto& [shaped, dims] : options.shapes) {
    bool found = false;
    for (const auto& input : graph.input()) found = found || input.name() == shaped;
    if (!found) fail(ErrorCode::InvalidArgument, "--shape names '{}', which is no input of the model", shaped);
  }
  const auto require_few = [](const char* what, size_t count) {
    if (count > kMaxValues)
      fail(ErrorCode::Unsupported, "the model has {} {}, at most {} are possible", count, what, kMaxValues);
  };
  require_few("outputs", static_cast<size_t>(graph.output_size()));
  std::vector<ir::VarRef> params;
  for (const auto& input : graph.input()) {
    if (importer.defined(input.name())) continue;
    StructInfo info = input_info(input, options, importer);
    auto var =
        std::make_shared<ir::Var>(input.name(), info, false, importer.span(fmt::format("input '{}'", input.name())));
    params.push_back(var);
    require_few("inputs that are no initializers", params.size());
    const int32_t type = input.type().tensor_type().elem_type();
    importer.define(input.name(), {var, std::move(info), std::nullopt, element_of(input.type()),
                                   content_of(input.type()), stores_only(type) ? type : 0});
  }
  std::vector<ir::Expr> outputs;
  const auto results = importer.run(graph);
  for (const auto& output : results) outputs.push_back(output.expr);
  const ir::Span whole = importer.span(fmt::format("graph '{}'", graph.name()));
  ir::Expr result = outputs.size() == 1 ? outputs[0] : std::make_shared<ir::Tuple>(std::move(outputs), whole);
  std::vector<ir::BindingBlock> blocks;
  if (auto bindings = importer.builder().take(results); !bindings.empty())
    blocks.push_back({false, std::move(bindings)});
  const auto body = std::make_shared<ir::Seq>(std::move(blocks), std::move(result), whole);
  ir::Module module;
  module.set({"main", std::make_shared<ir::Function>(std::move(params), body, nullptr, true, ir::Attrs{}, whole),
              nullptr, true, whole});
  return module;
}

ir::Module import(std::span<const std::byte> bytes, const ImportOptions& options, const std::string& name,
                  const std::string& folder) {
  std::string where = name;
  try {
    const auto model = parse_model(bytes);
    for (const auto& opset : model.opset_import())
      if (normal_domain(opset.domain()).empty()) where = fmt::format("{} (opset {})", name, opset.version());
    return import_graph(model, options, name, folder);
  } catch (Error& error) {
    error.add_context(where);
    throw;
  }
}

}  // namespace

ir::Module import_model(std::span<const std::byte> bytes, const std::string& name, const ImportOptions& options,
                        ir::Diagnostics&) {
  return import(bytes, options, name, "");
}

ir::Module import_model(const std::filesystem::path& path, const ImportOptions& options, ir::Diagnostics&) {
  const FileBytes file = map_file(path);
  return import(file.bytes, options, path.string(), std::filesystem::absolute(path).parent_path().string());
}

}  // namespace ingot::onnx_import
