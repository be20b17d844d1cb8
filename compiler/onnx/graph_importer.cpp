#include "compiler/onnx/graph_importer.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/gradient.h"
#include "compiler/onnx/strings.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

constexpr int64_t kNewestOpset = 28;
// Graphs inside of graphs; each is a few expressions deep in the program.
constexpr size_t kMaxGraphDepth = 200;
constexpr size_t kMaxFunctionDepth = 100;
// So many nodes of each operator are named in the report of what is missing.
constexpr size_t kMaxNamed = 20;
// Calls of functions, bodies of loops and what follows an if may be converted several times: in all at most so many
// nodes, and so many times as many as the file has.
constexpr size_t kMaxNodes = 200'000, kMaxUnfolding = 10;

// The one operator that speaks of other nodes of the graph instead of values.
bool is_gradient(const onnx::NodeProto& node) {
  return node.op_type() == "Gradient" && node.domain() == "ai.onnx.preview.training";
}

}  // namespace

GraphImporter::GraphImporter(const onnx::ModelProto& model, std::shared_ptr<const ir::Source> source,
                             std::string folder)
    : source_(std::move(source)), folder_(std::move(folder)) {
  scopes_.emplace_back();
  for (const auto& function : model.functions())
    if (!functions_.emplace(function_key(function.domain(), function.name()), &function).second)
      fail(ErrorCode::InvalidArgument, "the function '{}' is defined twice", function.name());
  read_opsets(model);
  std::map<std::string, std::vector<std::string>> missing;
  find_missing(model.graph().node(), "", missing, 0);
  for (const auto& function : model.functions())
    find_missing(function.node(), fmt::format("function '{}'", function.name()), missing, 0);
  most_nodes_ = kMaxNodes + kMaxUnfolding * most_nodes_;
  if (missing.empty()) return;
  std::string text = fmt::format("{} operator{} not supported:", missing.size(), missing.size() == 1 ? " is" : "s are");
  for (const auto& [op, nodes] : missing) {
    const auto few = std::span(nodes).first(std::min(nodes.size(), kMaxNamed));
    text += fmt::format("\n  {}: node{} {}", op, nodes.size() == 1 ? "" : "s", fmt::join(few, ", "));
    if (nodes.size() > few.size()) text += fmt::format(" and {} more", nodes.size() - few.size());
  }
  fail(ErrorCode::Unsupported, "{}", text);
}

void GraphImporter::read_opsets(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import())
    opsets_[std::string(normal_domain(import.domain()))] = import.version();
  if (opsets_.empty() && model.graph().node_size() == 0)
    fail(ErrorCode::CorruptFile,
         "the model does not say which opset it uses; it is not an ONNX model, or it ends early");
  const auto standard = opsets_.find("");
  if (standard != opsets_.end() && standard->second > kNewestOpset)
    fail(ErrorCode::Unsupported, "the model uses opset {}, the newest supported is {}", standard->second, kNewestOpset);
  if (model.graph().node_size() == 0 && model.graph().output_size() == 0)
    fail(ErrorCode::CorruptFile, "the model has no graph");
}

std::string GraphImporter::describe(const onnx::NodeProto& node, int index) {
  return node.name().empty() ? fmt::format("node #{} ({})", index, node.op_type())
                             : fmt::format("node #{} '{}' ({})", index, node.name(), node.op_type());
}

std::string GraphImporter::function_key(std::string_view domain, std::string_view name) {
  return fmt::format("{}.{}", normal_domain(domain), name);
}

// Everything that is missing, each operator with the nodes that use it.
void GraphImporter::find_missing(const Nodes& nodes, const std::string& where,
                                 std::map<std::string, std::vector<std::string>>& missing, size_t depth) {
  if (depth > kMaxGraphDepth) fail(ErrorCode::Unsupported, "graphs are nested more than {} deep", kMaxGraphDepth);
  for (int i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    ++most_nodes_;
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g() && attribute.graphs().empty()) continue;
      const std::string inside =
          fmt::format("{} of {}{}{}", attribute.name(), describe(node, i), where.empty() ? "" : " in ", where);
      if (attribute.has_g()) find_missing(attribute.g().node(), inside, missing, depth + 1);
      for (const auto& graph : attribute.graphs()) find_missing(graph.node(), inside, missing, depth + 1);
    }
    if (find_conversion(node.domain(), node.op_type()) != nullptr || is_gradient(node)) continue;
    if (functions_.contains(function_key(node.domain(), node.op_type()))) continue;
    const std::string op = node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type();
    missing[op].push_back((node.name().empty() ? fmt::format("#{}", i) : fmt::format("#{} '{}'", i, node.name())) +
                          (where.empty() ? "" : fmt::format(" in {}", where)));
  }
}

int64_t GraphImporter::opset(std::string_view domain) const {
  const auto found = opsets_.find(normal_domain(domain));
  if (found != opsets_.end()) return found->second;
  if (!normal_domain(domain).empty()) return 1;
  fail(ErrorCode::CorruptFile, "the model does not say which opset it uses");
}

ir::Span GraphImporter::span(std::string node) const {
  ir::Span result;
  result.source = source_;
  result.node = std::make_shared<const std::string>(std::move(node));
  return result;
}

SymVar GraphImporter::dimension(const std::string& name) {
  auto& var = dims_[name];
  if (var == nullptr) var = make_sym_var(name);
  return var;
}

void GraphImporter::define(const std::string& name, Typed value) {
  if (!scopes_.back().values.emplace(name, std::move(value)).second)
    fail(ErrorCode::InvalidArgument, "the name '{}' is defined twice", name);
}

void GraphImporter::initializers(const onnx::GraphProto& graph) {
  for (const auto& initializer : graph.initializer()) {
    builder_.begin_node(span(fmt::format("initializer '{}'", initializer.name())), initializer.name());
    Typed value = builder_.constant(read_tensor(initializer, folder_));
    if (stores_only(initializer.data_type())) value.stored = initializer.data_type();
    define(initializer.name(), std::move(value));
  }
  for (const auto& initializer : graph.sparse_initializer()) {
    const std::string& name = initializer.values().name();
    builder_.begin_node(span(fmt::format("initializer '{}'", name)), name);
    define(name, builder_.constant(read_sparse_tensor(initializer, folder_)));
  }
}

std::vector<Typed> GraphImporter::run(const onnx::GraphProto& graph) { return walk(graph).results; }

std::vector<Typed> GraphImporter::convert(const onnx::GraphProto& graph, std::span<const Typed> inputs) {
  if (static_cast<size_t>(graph.input_size()) > inputs.size())
    fail(ErrorCode::ArityMismatch, "graph '{}' has {} inputs, {} are given", graph.name(), graph.input_size(),
         inputs.size());
  const auto after = builder_.take_offer();
  Scope scope;
  scope.graph = &graph;
  return in_scope(std::move(scope), [&] {
    for (int i = 0; i < graph.input_size(); ++i)
      define(graph.input(i).name(), refined(graph.input(i).name(), inputs[static_cast<size_t>(i)]));
    initializers(graph);
    Walked walked = walk(graph, after);
    if (walked.all) builder_.give_rest(std::exchange(walked.results, {}));
    return std::move(walked.results);
  });
}

std::vector<Typed> GraphImporter::in_scope(Scope scope, const Outputs& body) {
  scopes_.push_back(std::move(scope));
  try {
    auto results = body();
    scopes_.pop_back();
    return results;
  } catch (...) {
    scopes_.pop_back();
    throw;
  }
}

std::vector<Typed> GraphImporter::in_graph(size_t scopes, const Outputs& body) {
  const auto first = scopes_.begin() + static_cast<ptrdiff_t>(scopes);
  std::vector<Scope> inner(std::make_move_iterator(first), std::make_move_iterator(scopes_.end()));
  scopes_.erase(first, scopes_.end());
  const auto restore = [&] {
    scopes_.insert(scopes_.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
  };
  Scope scope;
  scope.graph = scopes_.back().graph;
  scope.function = scopes_.back().function;
  try {
    auto results = in_scope(std::move(scope), body);
    restore();
    return results;
  } catch (...) {
    restore();
    throw;
  }
}

GraphImporter::Walked GraphImporter::walk(const onnx::GraphProto& graph, const GraphBuilder::Rest& after) {
  scopes_.back().graph = &graph;
  const auto outputs = [&] {
    std::vector<Typed> values;
    for (const auto& output : graph.output()) values.push_back(value(output.name()));
    return values;
  };
  return walk(graph.node(), 0, outputs, after);
}

GraphImporter::Walked GraphImporter::walk(const Nodes& nodes, int first, const Outputs& outputs,
                                          const GraphBuilder::Rest& after) {
  scopes_.back().nodes = &nodes;
  for (int i = first; i < nodes.size(); ++i) {
    const auto rest = [&, i] {
      Walked walked = walk(nodes, i + 1, outputs, after);
      return walked.all || !after ? std::move(walked.results) : after(std::move(walked.results));
    };
    if (auto results = node(nodes[i], i, rest)) return {*std::move(results), static_cast<bool>(after)};
  }
  return {outputs(), false};
}

std::optional<std::vector<Typed>> GraphImporter::node(const onnx::NodeProto& given, int index, const Outputs& rest) {
  const std::string what = describe(given, index);
  try {
    if (++converted_ > most_nodes_)
      fail(ErrorCode::Unsupported, "the model's functions, loops and branches unfold to more than {} nodes",
           most_nodes_);
    const bool refers =
        std::ranges::any_of(given.attribute(), [](const auto& a) { return !a.ref_attr_name().empty(); });
    const onnx::NodeProto copy = refers ? resolved(given) : onnx::NodeProto();
    const onnx::NodeProto& proto = refers ? copy : given;
    std::vector<std::optional<Typed>> inputs;
    for (const auto& name : proto.input()) {
      if (name.empty() || (scopes_.back().function && lacks(name))) {
        inputs.push_back(std::nullopt);
      } else {
        inputs.push_back(value(name));
      }
    }
    const auto begin = [&] {
      builder_.begin_node(span(what), proto.output_size() > 0 ? proto.output(0) : proto.op_type());
    };
    begin();
    const auto function = functions_.find(function_key(proto.domain(), proto.op_type()));
    const Convert conversion = find_conversion(proto.domain(), proto.op_type());
    Results results;
    if (function != functions_.end()) {
      results = call_function(proto, *function->second, std::move(inputs));
    } else if (is_gradient(proto)) {
      results = gradient(proto, index);
    } else {
      builder_.offer_rest(nullptr);
      if (conversion == convert_if || (conversion == convert_squeeze && !declares_rank(proto))) {
        builder_.offer_rest([&, scopes = scopes_.size()](std::vector<Typed> branch) {
          return in_graph(scopes, [&] {
            begin();
            define_outputs(proto, std::move(branch));
            return rest();
          });
        });
      }
      const Node whole(proto, opset(proto.domain()), std::move(inputs), builder_, *this);
      results = moves_strings(whole) ? convert_places(whole, conversion) : conversion(whole);
      if (auto taken = builder_.take_rest()) return taken;
    }
    begin();
    define_outputs(proto, std::move(results));
    return std::nullopt;
  } catch (Error& error) {
    error.add_context(what);
    throw;
  } catch (const std::out_of_range&) {
    fail(ErrorCode::ShapeMismatch, "{}: an operand has fewer dimensions or elements than the operator needs", what);
  }
}

std::vector<Typed> GraphImporter::gradient(const onnx::NodeProto& node, int index) {
  std::vector<std::string> xs;
  std::string y;
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "xs") xs.assign(attribute.strings().begin(), attribute.strings().end());
    if (attribute.name() == "y") y = attribute.s();
  }
  return gradients(builder_, *scopes_.back().nodes, index, xs, y,
                   [this](const std::string& name) { return value(name); });
}

void GraphImporter::define_outputs(const onnx::NodeProto& proto, std::vector<Typed> results) {
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string& name = proto.output(i);
    if (name.empty()) continue;
    if (static_cast<size_t>(i) < results.size()) {
      define(name, refined(name, std::move(results[static_cast<size_t>(i)])));
    } else {
      scopes_.back().missing.insert(name);
    }
  }
}

// The attributes of a function's node that refer to those of the function.
onnx::NodeProto GraphImporter::resolved(const onnx::NodeProto& node) const {
  onnx::NodeProto copy = node;
  copy.clear_attribute();
  for (const auto& attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      *copy.add_attribute() = attribute;
    } else if (const auto found = attributes_.find(attribute.ref_attr_name()); found != attributes_.end()) {
      auto* added = copy.add_attribute();
      *added = *found->second;
      added->set_name(attribute.name());
    }
  }
  return copy;
}

std::vector<Typed> GraphImporter::call_function(const onnx::NodeProto& node, const onnx::FunctionProto& function,
                                                std::vector<std::optional<Typed>> inputs) {
  const std::string key = function_key(node.domain(), node.op_type());
  if (std::ranges::find(active_functions_, key) != active_functions_.end())
    fail(ErrorCode::InvalidArgument, "the function '{}' calls itself", function.name());
  if (active_functions_.size() >= kMaxFunctionDepth)
    fail(ErrorCode::Unsupported, "functions call one another more than {} deep", kMaxFunctionDepth);
  if (inputs.size() > static_cast<size_t>(function.input_size()))
    fail(ErrorCode::ArityMismatch, "the function '{}' has {} inputs, {} are given", function.name(),
         function.input_size(), inputs.size());
  Scope scope;
  scope.function = true;
  for (int i = 0; i < function.input_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (at < inputs.size() && inputs[at]) {
      scope.values.emplace(function.input(i), *inputs[at]);
    } else {
      scope.missing.insert(function.input(i));
    }
  }
  auto attributes = decltype(attributes_){};
  for (const auto& attribute : node.attribute()) attributes.emplace(attribute.name(), &attribute);
  Opsets opsets;
  for (const auto& import : function.opset_import())
    opsets[std::string(normal_domain(import.domain()))] = import.version();
  auto outer = std::exchange(scopes_, {});
  scopes_.push_back(std::move(scope));
  auto outer_attributes = std::exchange(attributes_, std::move(attributes));
  auto outer_opsets = opsets.empty() ? opsets_ : std::exchange(opsets_, std::move(opsets));
  active_functions_.push_back(key);
  const auto restore = [&] {
    scopes_ = std::move(outer);
    attributes_ = std::move(outer_attributes);
    opsets_ = std::move(outer_opsets);
    active_functions_.pop_back();
  };
  try {
    auto walked = walk(function.node(), 0, [&] {
      std::vector<Typed> values;
      for (const auto& output : function.output()) {
        if (lacks(output)) break;
        values.push_back(value(output));
      }
      return values;
    });
    restore();
    return std::move(walked.results);
  } catch (Error& error) {
    restore();
    error.add_context(fmt::format("function '{}'", function.name()));
    throw;
  }
}

bool GraphImporter::lacks(const std::string& name) const {
  return std::ranges::any_of(scopes_, [&](const Scope& scope) { return scope.missing.contains(name); });
}

std::optional<Typed> GraphImporter::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->values.find(name); found != scope->values.end()) return found->second;
  return std::nullopt;
}

Typed GraphImporter::value(const std::string& name) const {
  if (auto found = find(name)) return *std::move(found);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (scope->missing.contains(name))
      fail(ErrorCode::Unsupported, "'{}' is an output of a node that is not supported", name);
    for (int i = 0; scope->nodes != nullptr && i < scope->nodes->size(); ++i)
      for (const auto& output : (*scope->nodes)[i].output())
        if (output == name)
          fail(ErrorCode::InvalidArgument, "'{}' is used before {} gives it; nodes must be sorted and free of cycles",
               name, describe((*scope->nodes)[i], i));
  }
  fail(ErrorCode::InvalidArgument, "'{}' is not defined by an input, an initializer or a node", name);
}

const onnx::TypeProto* GraphImporter::declared(const std::string& name) {
  const onnx::GraphProto* graph = scopes_.back().graph;
  if (graph == nullptr) return nullptr;
  const auto [entry, is_new] = declared_.try_emplace(graph);
  auto& types = entry->second;
  if (is_new)
    for (const auto* list : {&graph->output(), &graph->input(), &graph->value_info()})
      for (const auto& info : *list) types.try_emplace(info.name(), &info.type());
  const auto found = types.find(name);
  return found == types.end() ? nullptr : found->second;
}

bool GraphImporter::declares_rank(const onnx::NodeProto& node) {
  const onnx::TypeProto* type = node.output_size() > 0 ? declared(node.output(0)) : nullptr;
  return type != nullptr && type->has_tensor_type() && type->tensor_type().has_shape();
}

namespace {

bool is_open(const StructInfo& info) {
  return info == nullptr || info->kind == InfoKind::Object ||
         (info->kind == InfoKind::Tensor && (!info->rank || info->dtype == DType::None));
}

// What is known, with a dtype and a rank that are declared.
StructInfo completed(const StructInfo& info, const StructInfo& declared) {
  if (!is_open(info) || declared == nullptr || declared->kind != InfoKind::Tensor) return info;
  if (info == nullptr || info->kind != InfoKind::Tensor || info->dtype == DType::None) return declared;
  if (info->rank || !declared->rank) return info;
  return *declared->rank == 0 ? tensor_info(info->dtype, Dims{}) : tensor_info(info->dtype, *declared->rank);
}

}  // namespace

// With what the model says of a value where nothing else tells.
Typed GraphImporter::refined(const std::string& name, Typed value) {
  if (!is_open(value.info)) return value;
  const bool holds = value.element != nullptr || value.content != nullptr;
  if (value.info->kind == InfoKind::Object && holds && !is_open(value.element) && !is_open(value.content)) return value;
  const onnx::TypeProto* type = declared(name);
  if (type == nullptr) return value;
  if (const auto element = element_of(*type)) {
    value.element = completed(value.element, element);
  } else if (const auto content = content_of(*type)) {
    value.content = completed(value.content, content);
  } else if (!holds && type->has_tensor_type() && type->tensor_type().elem_type() != 0) {
    return builder_.match(value, completed(value.info, rank_of(*type)));
  }
  return value;
}

}  // namespace ingot::onnx_import
