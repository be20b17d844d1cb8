#include "compiler/onnx/gradient.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::onnx_import {
namespace {

// What was broadcast from the shape of `x` is summed up again.
Typed summed_like(GraphBuilder& b, Typed gradient, const Typed& x) {
  std::vector<int64_t> front;
  for (size_t d = 0; d + x.rank() < gradient.rank(); ++d) front.push_back(static_cast<int64_t>(d));
  if (!front.empty()) gradient = b.call("sum", {gradient}, {{"axis", front}});
  std::vector<int64_t> ones;
  for (size_t d = 0; d < x.rank(); ++d)
    if (x.dim(d).is_const(1) && !gradient.dim(d).is_const(1)) ones.push_back(static_cast<int64_t>(d));
  if (!ones.empty()) gradient = b.call("sum", {gradient}, {{"axis", ones}, {"keepdims", true}});
  return gradient;
}

// The derivatives by the inputs, from that by the output; empty where the operator has none here.
std::vector<Typed> local(GraphBuilder& b, const std::string& op, std::span<const Typed> x, const Typed& y,
                         const Typed& g) {
  if (op == "Add") return {g, g};
  if (op == "Sub") return {g, b.call("negative", {g})};
  if (op == "Mul") return {b.multiply(g, x[1]), b.multiply(g, x[0])};
  if (op == "Div") return {b.divide(g, x[1]), b.call("negative", {b.divide(b.multiply(g, y), x[1])})};
  if (op == "Neg") return {b.call("negative", {g})};
  if (op == "Identity") return {g};
  if (op == "Exp") return {b.multiply(g, y)};
  if (op == "Log") return {b.divide(g, x[0])};
  if (op == "Sqrt") return {b.divide(g, b.call("multiply", y, 2.0))};
  if (op == "Tanh") return {b.subtract(g, b.multiply(g, b.multiply(y, y)))};
  if (op == "Sigmoid") return {b.multiply(g, b.subtract(y, b.multiply(y, y)))};
  if (op == "Relu") return {b.call("where", {b.call("greater", x[0], 0.0), g, b.scalar(g.dtype(), 0)})};
  if (op == "Sin") return {b.multiply(g, b.call("cos", {x[0]}))};
  if (op == "Cos") return {b.call("negative", {b.multiply(g, b.call("sin", {x[0]}))})};
  if (op == "MatMul" && x[0].rank() == 2 && x[1].rank() == 2)
    return {b.call("matmul", {g, x[1]}, {{"transpose_b", true}}), b.call("matmul", {x[0], g}, {{"transpose_a", true}})};
  return {};
}

}  // namespace

std::vector<Typed> gradients(GraphBuilder& b, const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                             int before, std::span<const std::string> xs, const std::string& y,
                             const std::function<Typed(const std::string&)>& value) {
  const auto filled = [&](const std::string& name, double with) {
    const Typed of = value(name);
    return b.call("full", {b.scalar(of.dtype(), with), b.shape(of.dims())});
  };
  std::set<std::string> depends(xs.begin(), xs.end());
  for (int i = 0; i < before; ++i)
    if (std::ranges::any_of(nodes[i].input(), [&](const auto& name) { return depends.contains(name); }))
      depends.insert(nodes[i].output().begin(), nodes[i].output().end());
  std::map<std::string, Typed> known;
  known.emplace(y, filled(y, 1));
  for (int i = before - 1; i >= 0; --i) {
    const auto& node = nodes[i];
    if (node.output_size() == 0) continue;
    const auto found = known.find(node.output(0));
    if (found == known.end() || std::ranges::find(xs, node.output(0)) != xs.end()) continue;
    if (std::ranges::none_of(node.input(), [&](const auto& name) { return depends.contains(name); })) continue;
    std::vector<Typed> inputs;
    for (const auto& name : node.input()) inputs.push_back(value(name));
    const auto parts = local(b, node.op_type(), inputs, value(node.output(0)), found->second);
    if (parts.size() != inputs.size())
      fail(ErrorCode::Unsupported, "the derivative of {} (node #{}) is not known", node.op_type(), i);
    for (int k = 0; k < node.input_size(); ++k) {
      const auto at = static_cast<size_t>(k);
      if (!depends.contains(node.input(k))) continue;
      const Typed part = summed_like(b, parts[at], inputs[at]);
      const auto [place, added] = known.emplace(node.input(k), part);
      if (!added) place->second = b.add(place->second, part);
    }
  }
  std::vector<Typed> results;
  for (const auto& x : xs) {
    const auto found = known.find(x);
    results.push_back(found != known.end() ? found->second : filled(x, 0));
  }
  return results;
}

}  // namespace ingot::onnx_import
