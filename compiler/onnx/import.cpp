#include "compiler/onnx/import.h"

#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include "compiler/onnx/node.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace ingot::onnx_import {
namespace {

constexpr int64_t kNewestOpset = 23;

class Importer {
 public:
  Importer(const std::string& name, const ImportOptions& options)
      : options_(&options), source_(std::make_shared<ir::Source>(ir::Source{name, {}})) {}

  ir::Module run(const onnx::ModelProto& model) {
    read_opset(model);
    const auto& graph = model.graph();
    report_unsupported(graph);
    for (const auto& initializer : graph.initializer()) {
      builder_.begin_node(span(fmt::format("initializer '{}'", initializer.name())), initializer.name());
      define(initializer.name(), builder_.constant(read_tensor(initializer)));
    }
    for (const auto& input : graph.input())
      if (!values_.contains(input.name())) parameter(input);
    for (int i = 0; i < graph.node_size(); ++i) node(graph.node(i), i, graph);
    return module(graph);
  }

 private:
  void read_opset(const onnx::ModelProto& model) {
    for (const auto& import : model.opset_import())
      if (import.domain().empty() || import.domain() == "ai.onnx") opset_ = import.version();
    if (opset_ == 0)
      fail(ErrorCode::CorruptFile,
           "the model does not say which opset it uses; it is not an ONNX model, or it ends early");
    if (opset_ > kNewestOpset)
      fail(ErrorCode::Unsupported, "the model uses opset {}, the newest supported is {}", opset_, kNewestOpset);
    if (model.graph().node_size() == 0 && model.graph().output_size() == 0)
      fail(ErrorCode::CorruptFile, "the model has no graph");
  }

  static std::string describe(const onnx::NodeProto& node, int index) {
    return node.name().empty() ? fmt::format("node #{} ({})", index, node.op_type())
                               : fmt::format("node #{} '{}' ({})", index, node.name(), node.op_type());
  }

  static bool supported(const onnx::NodeProto& node) {
    return (node.domain().empty() || node.domain() == "ai.onnx") && find_conversion(node.op_type()) != nullptr;
  }

  // Everything that is missing in one report, each operator with the nodes that use it.
  static void report_unsupported(const onnx::GraphProto& graph) {
    std::map<std::string, std::vector<std::string>> missing;
    for (int i = 0; i < graph.node_size(); ++i) {
      const auto& node = graph.node(i);
      if (supported(node)) continue;
      const std::string op = node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type();
      missing[op].push_back(node.name().empty() ? fmt::format("#{}", i) : fmt::format("#{} '{}'", i, node.name()));
    }
    if (missing.empty()) return;
    std::string text =
        fmt::format("{} operator{} not supported:", missing.size(), missing.size() == 1 ? " is" : "s are");
    for (const auto& [op, nodes] : missing)
      text += fmt::format("\n  {}: node{} {}", op, nodes.size() == 1 ? "" : "s", fmt::join(nodes, ", "));
    fail(ErrorCode::Unsupported, "{}", text);
  }

  ir::Span span(std::string node) const {
    ir::Span result;
    result.source = source_;
    result.node = std::make_shared<const std::string>(std::move(node));
    return result;
  }

  void define(const std::string& name, Typed value) {
    if (!values_.emplace(name, std::move(value)).second)
      fail(ErrorCode::InvalidArgument, "the name '{}' is defined twice", name);
  }

  SymVar dimension(const std::string& name) {
    auto& var = dims_[name];
    if (var == nullptr) var = make_sym_var(name);
    return var;
  }

  StructInfo input_info(const onnx::ValueInfoProto& input) {
    if (!input.type().has_tensor_type()) fail(ErrorCode::Unsupported, "input '{}' is not a tensor", input.name());
    const auto& type = input.type().tensor_type();
    const DType dtype = dtype_of(type.elem_type());
    std::vector<PrimExpr> dims;
    if (const auto given = options_->shapes.find(input.name()); given != options_->shapes.end()) {
      if (type.has_shape() && static_cast<size_t>(type.shape().dim_size()) != given->second.size())
        fail(ErrorCode::ShapeMismatch, "--shape gives input '{}' rank {}, the model says {}", input.name(),
             given->second.size(), type.shape().dim_size());
      for (const int64_t dim : given->second) dims.emplace_back(dim);
      return tensor_info(dtype, std::move(dims));
    }
    if (!type.has_shape())
      fail(ErrorCode::Unsupported, "input '{}' has no shape; give one with --shape {}:...", input.name(), input.name());
    for (int i = 0; i < type.shape().dim_size(); ++i) {
      const auto& dim = type.shape().dim(i);
      if (dim.has_dim_value() && dim.dim_value() >= 0) {
        dims.emplace_back(dim.dim_value());
      } else if (dim.has_dim_param() && !dim.dim_param().empty()) {
        dims.emplace_back(dimension(dim.dim_param()));
      } else {
        dims.emplace_back(make_sym_var(fmt::format("{}_{}", input.name(), i)));
      }
    }
    return tensor_info(dtype, std::move(dims));
  }

  void parameter(const onnx::ValueInfoProto& input) {
    StructInfo info = input_info(input);
    auto var = std::make_shared<ir::Var>(input.name(), info, false, span(fmt::format("input '{}'", input.name())));
    params_.push_back(var);
    define(input.name(), {var, std::move(info)});
  }

  void node(const onnx::NodeProto& proto, int index, const onnx::GraphProto& graph) {
    const std::string what = describe(proto, index);
    try {
      std::vector<std::optional<Typed>> inputs;
      for (const auto& name : proto.input())
        inputs.push_back(name.empty() ? std::nullopt : std::optional(value(name, graph)));
      builder_.begin_node(span(what), proto.output_size() > 0 ? proto.output(0) : proto.op_type());
      const Results results = find_conversion(proto.op_type())(Node(proto, opset_, std::move(inputs), builder_));
      for (int i = 0; i < proto.output_size(); ++i) {
        if (proto.output(i).empty()) continue;
        if (static_cast<size_t>(i) < results.size()) {
          define(proto.output(i), results[static_cast<size_t>(i)]);
        } else {
          missing_outputs_.insert(proto.output(i));
        }
      }
    } catch (Error& error) {
      error.add_context(what);
      throw;
    }
  }

  Typed value(const std::string& name, const onnx::GraphProto& graph) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    if (missing_outputs_.contains(name))
      fail(ErrorCode::Unsupported, "'{}' is an output of a node that is not supported", name);
    for (int i = 0; i < graph.node_size(); ++i)
      for (const auto& output : graph.node(i).output())
        if (output == name)
          fail(ErrorCode::InvalidArgument, "'{}' is used before {} gives it; nodes must be sorted and free of cycles",
               name, describe(graph.node(i), i));
    fail(ErrorCode::InvalidArgument, "'{}' is not defined by an input, an initializer or a node", name);
  }

  ir::Module module(const onnx::GraphProto& graph) {
    std::vector<ir::Expr> outputs;
    for (const auto& output : graph.output()) outputs.push_back(value(output.name(), graph).expr);
    const ir::Span whole = span(fmt::format("graph '{}'", graph.name()));
    ir::Expr result = outputs.size() == 1 ? outputs[0] : std::make_shared<ir::Tuple>(std::move(outputs), whole);
    std::vector<ir::BindingBlock> blocks;
    if (auto bindings = builder_.take(); !bindings.empty()) blocks.push_back({false, std::move(bindings)});
    const auto body = std::make_shared<ir::Seq>(std::move(blocks), std::move(result), whole);
    ir::Module module;
    module.set({"main", std::make_shared<ir::Function>(std::move(params_), body, nullptr, true, ir::Attrs{}, whole),
                nullptr, true, whole});
    return module;
  }

  const ImportOptions* options_;
  std::shared_ptr<const ir::Source> source_;
  int64_t opset_ = 0;
  GraphBuilder builder_;
  std::vector<ir::VarRef> params_;
  std::unordered_map<std::string, Typed> values_;
  std::unordered_map<std::string, SymVar> dims_;
  std::unordered_set<std::string> missing_outputs_;
};

}  // namespace

ir::Module import_model(std::span<const std::byte> bytes, const std::string& name, const ImportOptions& options,
                        ir::Diagnostics&) {
  try {
    if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
      fail(ErrorCode::Unsupported, "the model has {} bytes; models above 2 GiB must keep their weights in other files",
           bytes.size());
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    google::protobuf::io::CodedInputStream coded(&stream);
    coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
    onnx::ModelProto model;
    if (bytes.empty() || !model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
      fail(ErrorCode::CorruptFile, "not an ONNX model: its {} bytes are no protobuf message of one, or end early",
           bytes.size());
    return Importer(name, options).run(model);
  } catch (Error& error) {
    error.add_context(name);
    throw;
  }
}

ir::Module import_model(const std::filesystem::path& path, const ImportOptions& options, ir::Diagnostics& diagnostics) {
  const FileBytes file = map_file(path);
  return import_model(file.bytes, path.string(), options, diagnostics);
}

}  // namespace ingot::onnx_import
