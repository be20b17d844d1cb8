#include <algorithm>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

// Ifs and loops, sequences and optionals.
namespace ingot::onnx_import {
namespace {

Typed flag_of(GraphBuilder& b, const Typed& x) {
  if (x.is_tensor() && x.info->rank == 0u) return x;
  return b.reshape(x, {});
}

StructInfo forget(const StructInfo& info) {
  return info->kind == InfoKind::Tensor && info->rank && *info->rank > 0 ? tensor_info(info->dtype, *info->rank) : info;
}

Typed sequence_of(Typed value, StructInfo element) {
  value.element = std::move(element);
  return value;
}

const Typed& sequence_input(const Node& node) {
  const Typed& x = node.input(0);
  if (x.is_tensor()) fail(ErrorCode::TypeError, "input 0 is {}, a sequence is wanted", to_text(x.info));
  return x;
}

Typed part_at(GraphBuilder& b, const Typed& x, const Typed& index, int64_t axis) {
  if (x.dtype() != DType::String) return b.gather(x, index, axis);
  Dims dims = x.dims();
  dims.erase(dims.begin() + axis);
  return b.builtin("take_strings", {x, index, b.prim(axis)}, tensor_info(DType::String, std::move(dims)));
}

// The dimensions that a graph declares for its outputs from `first` on.
std::vector<std::vector<int64_t>> declared_dims(const onnx::GraphProto& graph, size_t first) {
  std::vector<std::vector<int64_t>> all;
  for (auto i = static_cast<int>(first); i < graph.output_size(); ++i) {
    auto& dims = all.emplace_back();
    for (const auto& dim : graph.output(i).type().tensor_type().shape().dim())
      dims.push_back(std::max<int64_t>(dim.dim_value(), 0));
  }
  return all;
}

Typed element_at(GraphBuilder& b, const Typed& sequence, const Typed& position) {
  return b.builtin("sequence_at", {sequence, position},
                   sequence.element != nullptr ? forget(sequence.element) : object_info());
}

}  // namespace

Results convert_if(const Node& node) {
  auto& b = node.builder();
  if (const auto known = known_integers(node.input(0)); known && known->size() == 1)
    return node.subgraph(known->front() != 0 ? "then_branch" : "else_branch", {});
  return b.branch(
      flag_of(b, node.input(0)), [&] { return node.subgraph("then_branch", {}); },
      [&] { return node.subgraph("else_branch", {}); });
}

Results convert_loop(const Node& node) {
  auto& b = node.builder();
  const auto& body = node.graph("body");
  Loop loop;
  if (node.has(0)) loop.count = flag_of(b, b.cast(node.input(0), DType::Int64));
  if (node.has(1)) loop.condition = flag_of(b, node.input(1));
  for (size_t i = 2; i < node.inputs(); ++i) loop.carried.push_back(node.input(i));
  const size_t carried = loop.carried.size();
  const auto outputs = static_cast<size_t>(body.output_size());
  if (outputs < carried + 1 || static_cast<size_t>(body.input_size()) > carried + 2)
    fail(ErrorCode::ArityMismatch, "the body has {} inputs and {} outputs for {} carried values", body.input_size(),
         outputs, carried);
  loop.collected.assign(outputs - carried - 1, {0, false});
  loop.declared = declared_dims(body, carried + 1);
  loop.step = [&](const Typed& index, const Typed& condition, std::span<const Typed> values) {
    std::vector<Typed> inputs = {index, condition};
    inputs.insert(inputs.end(), values.begin(), values.end());
    auto results = node.subgraph("body", inputs);
    const auto split = results.begin() + 1 + static_cast<ptrdiff_t>(carried);
    return LoopStep{flag_of(b, results[0]), {results.begin() + 1, split}, {split, results.end()}};
  };
  return b.loop(loop);
}

Results convert_scan(const Node& node) {
  auto& b = node.builder();
  const auto& body = node.graph("body");
  constexpr auto kMost = static_cast<int64_t>(kMaxRank);
  const bool batched = node.opset() < 9;
  const auto scanned = static_cast<size_t>(node.integer("num_scan_inputs", 1, 1));
  const size_t first = batched ? 1 : 0;
  if (node.inputs() < first + scanned) fail(ErrorCode::ArityMismatch, "{} scan inputs are not there", scanned);
  const size_t states = node.inputs() - first - scanned;
  const auto outputs = static_cast<size_t>(body.output_size());
  if (outputs < states)
    fail(ErrorCode::ArityMismatch, "the body has {} outputs for {} states and {} scan inputs", outputs, states,
         scanned);
  const size_t collected = outputs - states;
  const auto directions = node.integers(batched ? "directions" : "scan_input_directions", scanned, 0, 0, 1);
  const auto axes = node.integers("scan_input_axes", scanned, 0, -kMost, kMost),
             output_axes = node.integers("scan_output_axes", collected, 0, -kMost, kMost);
  const auto output_directions = node.integers("scan_output_directions", collected, 0, 0, 1);

  // One scan: states and inputs without the batch.
  const auto scan = [&](std::vector<Typed> state, const std::vector<Typed>& inputs) {
    Loop loop;
    std::vector<int64_t> along;
    for (size_t i = 0; i < scanned; ++i) along.push_back(node.axis(axes[i], inputs[i].rank()));
    const Typed count = b.tensor_of({inputs[0].dim(static_cast<size_t>(along[0]))}, 0);
    loop.count = count;
    loop.carried = std::move(state);
    for (size_t i = 0; i < collected; ++i) loop.collected.emplace_back(output_axes[i], output_directions[i] != 0);
    loop.declared = declared_dims(body, states);
    loop.step = [&, along](const Typed& index, const Typed&, std::span<const Typed> values) {
      std::vector<Typed> arguments(values.begin(), values.end());
      for (size_t i = 0; i < scanned; ++i) {
        const Typed last = b.call("subtract", count, 1.0);
        const Typed at = directions[i] == 0 ? index : b.subtract(last, index);
        arguments.push_back(part_at(b, inputs[i], at, along[i]));
      }
      auto results = node.subgraph("body", arguments);
      const auto split = results.begin() + static_cast<ptrdiff_t>(states);
      return LoopStep{std::nullopt, {results.begin(), split}, {split, results.end()}};
    };
    return b.loop(loop);
  };
  std::vector<Typed> state, inputs;
  for (size_t i = 0; i < states + scanned; ++i) (i < states ? state : inputs).push_back(node.input(first + i));
  if (!batched) return scan(state, inputs);
  if (node.has(0)) fail(ErrorCode::Unsupported, "sequence lengths (input 0) are not supported");
  // Opset 8: the first dimension is a batch, each element of which is scanned on its own.
  Loop loop;
  loop.count = b.tensor_of({inputs[0].dim(0)}, 0);
  loop.collected.assign(outputs, {0, false});
  loop.step = [&](const Typed& index, const Typed&, std::span<const Typed>) {
    const auto element = [&](const std::vector<Typed>& all) {
      std::vector<Typed> parts;
      for (const auto& one : all) parts.push_back(part_at(b, one, index, 0));
      return parts;
    };
    return LoopStep{std::nullopt, {}, scan(element(state), element(inputs))};
  };
  return b.loop(loop);
}

Results convert_sequence_empty(const Node& node) {
  const auto* type = node.find("dtype");
  const DType dtype = type != nullptr ? dtype_of(static_cast<int32_t>(type->i())) : DType::Float32;
  Typed sequence = node.builder().tuple({});
  sequence.info = object_info();
  // Of which rank its elements will be, the first one tells.
  (void)dtype;
  return {sequence_of(std::move(sequence), nullptr)};
}

Results convert_sequence_construct(const Node& node) {
  auto inputs = node.all_inputs();
  if (inputs.empty()) fail(ErrorCode::ArityMismatch, "it has no inputs");
  if (inputs.size() > kMaxValues)
    fail(ErrorCode::Unsupported, "it has {} inputs, a sequence is made of at most {} at once; use SequenceInsert",
         inputs.size(), kMaxValues);
  StructInfo element = inputs[0].info;
  for (const auto& input : inputs) element = common_info(element, input.info);
  Typed sequence = node.builder().tuple(inputs);
  sequence.info = object_info();
  return {sequence_of(std::move(sequence), forget(element))};
}

Results convert_sequence_insert(const Node& node) {
  auto& b = node.builder();
  const Typed& sequence = sequence_input(node);
  std::vector<Typed> args = {sequence, node.input(1)};
  if (node.has(2)) args.push_back(node.input(2));
  return {sequence_of(b.builtin("sequence_insert", args, object_info()),
                      forget(common_info(sequence.element, node.input(1).info)))};
}

Results convert_sequence_erase(const Node& node) {
  auto& b = node.builder();
  return {sequence_of(b.builtin("sequence_erase", {sequence_input(node), node.input_or_none(1)}, object_info()),
                      node.input(0).element)};
}

Results convert_sequence_at(const Node& node) {
  return {element_at(node.builder(), sequence_input(node), node.input(1))};
}

Results convert_sequence_length(const Node& node) {
  return {node.builder().builtin("sequence_length", {sequence_input(node)}, tensor_info(DType::Int64, Dims{}))};
}

Results convert_concat_from_sequence(const Node& node) {
  auto& b = node.builder();
  const Typed& sequence = sequence_input(node);
  const bool new_axis = node.flag("new_axis");
  StructInfo info = object_info();
  if (const auto& element = sequence.element; element != nullptr && element->kind == InfoKind::Tensor)
    info =
        element->rank ? tensor_info(element->dtype, *element->rank + (new_axis ? 1 : 0)) : tensor_info(element->dtype);
  return {b.builtin("concat_sequence", {sequence, b.prim(node.integer("axis", 0)), b.prim(new_axis ? 1 : 0)}, info)};
}

Results convert_split_to_sequence(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const bool keep = node.flag("keepdims", true);
  const int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  const size_t rank = x.rank() - (keep || node.has(1) ? 0 : 1);
  return {sequence_of(b.builtin("split", {x, node.input_or_none(1), b.prim(axis), b.prim(keep ? 1 : 0)}, object_info()),
                      tensor_info(x.dtype(), static_cast<uint32_t>(rank)))};
}

// The body once for each element; inputs that are no sequences are the same each time.
Results convert_sequence_map(const Node& node) {
  auto& b = node.builder();
  Loop loop;
  loop.count = b.builtin("sequence_length", {sequence_input(node)}, tensor_info(DType::Int64, Dims{}));
  const auto outputs = static_cast<size_t>(node.graph("body").output_size());
  for (size_t i = 0; i < outputs; ++i) {
    Typed empty = b.tuple({});
    empty.info = object_info();
    loop.carried.push_back(empty);
  }
  loop.step = [&](const Typed& index, const Typed&, std::span<const Typed> values) {
    std::vector<Typed> arguments;
    for (size_t i = 0; i < node.inputs(); ++i)
      arguments.push_back(node.input(i).is_tensor() ? node.input(i) : element_at(b, node.input(i), index));
    const auto results = node.subgraph("body", arguments);
    LoopStep step;
    for (size_t i = 0; i < outputs; ++i)
      step.carried.push_back(sequence_of(b.builtin("sequence_insert", {values[i], results[i]}, object_info()),
                                         forget(common_info(values[i].element, results[i].info))));
    return step;
  };
  return b.loop(loop);
}

Results convert_optional(const Node& node) {
  Typed value = node.has(0) ? node.input(0) : node.builder().none();
  if (const auto* type = node.find("type"); !node.has(0) && type != nullptr && type->has_tp()) {
    value.element = element_of(type->tp());
    if (type->tp().has_tensor_type()) value.content = object_info();
  }
  return {value};
}

Results convert_optional_has_element(const Node& node) {
  auto& b = node.builder();
  if (!node.has(0)) return {b.scalar(DType::Bool, 0)};
  return {b.builtin("has_element", {node.input(0)}, tensor_info(DType::Bool, Dims{}))};
}

Results convert_optional_get_element(const Node& node) {
  const Typed& x = node.input(0);
  if (x.is_tensor() || x.content == nullptr) return {x};
  Typed tensor = node.builder().match(x, x.content);
  tensor.content = nullptr;
  return {tensor};
}

}  // namespace ingot::onnx_import
