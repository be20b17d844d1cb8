#include <algorithm>
#include <limits>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/quantized.h"
#include "runtime/base/error.h"

// Recurrent layers: one product for the inputs of all steps, then a loop (or, for few steps, its body several times).
namespace ingot::onnx_import {
namespace {

constexpr int64_t kUnrolledSteps = 8;

Typed activation(GraphBuilder& b, const std::string& given, const Typed& x, std::optional<double> alpha,
                 std::optional<double> beta) {
  std::string name = given;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* plain : {"relu", "tanh", "sigmoid", "softsign", "softplus"})
    if (name == plain) return b.call(plain, {x});
  if (name == "affine") return b.call("add", b.call("multiply", x, alpha.value_or(1)), beta.value_or(0));
  if (name == "leakyrelu") return b.call("leaky_relu", {x}, {{"alpha", alpha.value_or(0.01)}});
  if (name == "thresholdedrelu") return b.call("thresholded_relu", {x}, {{"alpha", alpha.value_or(1)}});
  if (name == "scaledtanh")
    return b.call("multiply", b.call("tanh", {b.call("multiply", x, beta.value_or(1))}), alpha.value_or(1));
  if (name == "hardsigmoid")
    return b.call("hard_sigmoid", {x}, {{"alpha", alpha.value_or(0.2)}, {"beta", beta.value_or(0.5)}});
  if (name == "elu") return b.call("elu", {x}, {{"alpha", alpha.value_or(1)}});
  fail(ErrorCode::InvalidArgument, "there is no activation '{}'", given);
}

// Products with weights that are no plain matrices.
struct Products {
  std::function<Typed(const Typed&rows, size_t direction)> of_inputs, of_states;
};

// One direction of a layer. Matrices are [batch, ...]; gates lie side by side, `gates` of width `hidden`.
struct Cell {
  const Node& node;
  std::string kind;
  int64_t gates, hidden;
  size_t direction;
  std::vector<std::string> activations;
  Typed recurrent;                      // [gates * hidden, hidden]
  std::optional<Typed> recurrent_bias;  // of the last gate, where it must be added before the reset (GRU)
  std::optional<Typed> peepholes;       // [3 * hidden]: input, output, forget
  const Products* products = nullptr;   // of LSTM, instead of the matrices

  GraphBuilder& b() const { return node.builder(); }

  Typed gate(const Typed& all, int64_t i) const { return b().part(all, 1, i * hidden, (i + 1) * hidden); }

  Typed activate(size_t i, Typed x) const {
    const size_t at = direction * activations.size() + i;  // lists go through all directions
    const auto number = [&](std::string_view name) -> std::optional<double> {
      const auto list = node.numbers(name);
      return list && at < list->size() ? std::optional((*list)[at]) : std::nullopt;
    };
    if (node.find("clip") != nullptr) {
      const double clip = node.number("clip", 0);
      x = b().call("clip", {x}, {{"a_min", -clip}, {"a_max", clip}});
    }
    return activation(b(), activations[i], x, number("activation_alpha"), number("activation_beta"));
  }

  Typed product(const Typed& h, const Typed& weight) const {
    return b().call("matmul", {h, weight}, {{"transpose_b", true}});
  }
  Typed of_states(const Typed& h) const { return products ? products->of_states(h, direction) : product(h, recurrent); }

  // The new states from what the inputs give and the old states.
  std::vector<Typed> step(const Typed& x, const std::vector<Typed>& states) const {
    auto& builder = b();
    const Typed& h = states[0];
    if (kind == "RNN") return {activate(0, builder.add(x, product(h, recurrent)))};
    if (kind == "GRU") {
      const Typed both = builder.part(recurrent, 0, 0, 2 * hidden),
                  last = builder.part(recurrent, 0, 2 * hidden, 3 * hidden);
      const Typed zr = activate(0, builder.add(builder.part(x, 1, 0, 2 * hidden), product(h, both)));
      const Typed z = builder.part(zr, 1, 0, hidden), r = builder.part(zr, 1, hidden, 2 * hidden);
      Typed inner;
      if (recurrent_bias || node.flag("linear_before_reset")) {
        inner = product(h, last);
        if (recurrent_bias) inner = builder.add(inner, *recurrent_bias);
        inner = builder.multiply(r, inner);
      } else {
        inner = product(builder.multiply(r, h), last);
      }
      const Typed fresh = activate(1, builder.add(gate(x, 2), inner));
      const Typed keep = builder.multiply(z, h);
      return {builder.add(builder.subtract(fresh, builder.multiply(z, fresh)), keep)};
    }
    const Typed& c = states[1];
    const Typed all = builder.add(x, of_states(h));
    const auto peep = [&](const Typed& value, const Typed& cell, int64_t i) {
      if (!peepholes) return value;
      return builder.add(value, builder.multiply(builder.part(*peepholes, 0, i * hidden, (i + 1) * hidden), cell));
    };
    const Typed i = activate(0, peep(gate(all, 0), c, 0));
    const Typed f = node.flag("input_forget") ? builder.subtract(builder.scalar(i.dtype(), 1), i)
                                              : activate(0, peep(gate(all, 2), c, 2));
    const Typed candidate = activate(1, gate(all, 3));
    const Typed cell = builder.add(builder.multiply(f, c), builder.multiply(i, candidate));
    const Typed o = activate(0, peep(gate(all, 1), cell, 1));
    return {builder.multiply(o, activate(2, cell)), cell};
  }
};

Typed of_direction(GraphBuilder& b, const Typed& x, size_t direction) {
  const auto at = static_cast<int64_t>(direction);
  return b.squeeze(b.part(x, 0, at, at + 1), 0);
}

struct Run {
  Typed steps;                // [time, batch, hidden]
  std::vector<Typed> states;  // [batch, hidden] each
};

Run run(const Cell& cell, const Typed& inputs, std::vector<Typed> states, const std::optional<Typed>& lengths) {
  auto& b = cell.b();
  const PrimExpr& time = inputs.dim(0);
  // Sequences that have ended keep their states; their outputs are zero.
  const auto step = [&](const Typed& x, const Typed& index, const std::vector<Typed>& old) {
    auto fresh = cell.step(x, old);
    Typed output = fresh[0];
    if (lengths) {
      const Typed active = b.unsqueeze(b.call("less", {index, *lengths}), 1);
      output = b.call("where", {active, fresh[0], b.scalar(fresh[0].dtype(), 0)});
      for (size_t i = 0; i < fresh.size(); ++i) fresh[i] = b.call("where", {active, fresh[i], old[i]});
    }
    return std::pair(output, fresh);
  };
  if (const auto known = time.as_const(); known && *known >= 1 && *known <= kUnrolledSteps) {
    std::vector<Typed> outputs;
    for (int64_t t = 0; t < *known; ++t) {
      const Typed x = *known == 1 ? b.squeeze(inputs, 0) : b.squeeze(b.part(inputs, 0, t, t + 1), 0);
      auto [output, fresh] = step(x, b.scalar(DType::Int64, static_cast<double>(t)), states);
      states = std::move(fresh);
      outputs.push_back(b.unsqueeze(output, 0));
    }
    return {*known == 1 ? outputs[0] : b.call_tuple("concat", outputs, {{"axis", int64_t{0}}}), states};
  }
  Loop loop;
  loop.count = b.tensor_of({time}, 0);
  loop.carried = states;
  loop.collected = {{0, false}};
  loop.step = [&](const Typed& index, const Typed&, std::span<const Typed> carried) {
    const Typed x = b.gather(inputs, index, 0);
    auto [output, fresh] = step(x, index, {carried.begin(), carried.end()});
    return LoopStep{std::nullopt, fresh, {output}};
  };
  auto results = b.loop(loop);
  const Typed steps =
      b.match(results.back(), tensor_info(inputs.dtype(), Dims{time, states[0].dim(0), states[0].dim(1)}));
  results.pop_back();
  return {steps, results};
}

Results recurrent(const Node& node, const std::string& kind, int64_t gates, std::vector<std::string> defaults,
                  const Products* products = nullptr) {
  auto& b = node.builder();
  const bool batch_first = node.flag("layout");
  const bool is_lstm = kind == "LSTM";
  const std::string direction = node.choice("direction", "forward", {"forward", "reverse", "bidirectional"});
  Typed x = node.input(0);
  if (x.rank() != 3) fail(ErrorCode::ShapeMismatch, "input 0 has rank {}, it must have 3", x.rank());
  if (batch_first) x = b.transpose(x, {1, 0, 2});
  const Typed &weight = node.input(1), &recurrence = node.input(2);
  const auto extent = recurrence.dim(products != nullptr ? 1 : 2).as_const();
  const int64_t hidden = node.integer("hidden_size", extent.value_or(0));
  if (hidden <= 0 || (extent && *extent != hidden))
    fail(ErrorCode::ShapeMismatch, "hidden_size is {}, input 2 (R) has {}", hidden, extent.value_or(0));
  const size_t directions = direction == "bidirectional" ? 2 : 1;
  auto activations = node.texts("activations");
  const size_t each = defaults.size();
  if (activations.empty())
    for (size_t d = 0; d < directions; ++d) activations.insert(activations.end(), defaults.begin(), defaults.end());
  if (activations.size() != each * directions)
    fail(ErrorCode::InvalidArgument, "{} activations for {} directions of {}", activations.size(), directions, each);
  const PrimExpr batch = x.dim(1), time = x.dim(0);
  const size_t state_count = is_lstm ? 2 : 1;
  const std::optional<Typed> lengths = node.has(4) ? std::optional(b.cast(node.input(4), DType::Int64)) : std::nullopt;

  std::vector<Typed> sequences;
  std::vector<std::vector<Typed>> finals(state_count);
  for (size_t d = 0; d < directions; ++d) {
    const bool reverse = direction == "reverse" || d == 1;
    const auto reversed = [&](const Typed& sequence) {
      if (!reverse) return sequence;
      if (lengths) return reverse_sequences(b, sequence, *lengths, 0);
      return b.call("flip", {sequence}, {{"axis", std::vector<int64_t>{0}}});
    };
    Cell cell{node, kind, gates, hidden, d, {}, of_direction(b, recurrence, d), std::nullopt, std::nullopt, products};
    cell.activations.assign(activations.begin() + static_cast<ptrdiff_t>(d * each),
                            activations.begin() + static_cast<ptrdiff_t>((d + 1) * each));
    const Typed rows = b.reshape(reversed(x), {time * batch, x.dim(2)});
    Typed inputs = products != nullptr ? products->of_inputs(rows, d) : cell.product(rows, of_direction(b, weight, d));
    if (node.has(3)) {
      const Typed bias = of_direction(b, node.input(3), d);
      const Typed of_inputs = b.part(bias, 0, 0, gates * hidden),
                  of_states = b.part(bias, 0, gates * hidden, 2 * gates * hidden);
      inputs = b.add(inputs, of_inputs);
      if (kind == "GRU" && node.flag("linear_before_reset")) {
        // The last gate's is multiplied by the reset gate.
        cell.recurrent_bias = b.part(of_states, 0, 2 * hidden, 3 * hidden);
        const Typed zeros = b.call("full", {b.scalar(x.dtype(), 0), b.shape({PrimExpr(hidden)})});
        const Typed others[] = {b.part(of_states, 0, 0, 2 * hidden), zeros};
        inputs = b.add(inputs, b.call_tuple("concat", others, {{"axis", int64_t{0}}}));
      } else {
        inputs = b.add(inputs, of_states);
      }
    }
    inputs = b.reshape(inputs, {time, batch, PrimExpr(gates * hidden)});
    if (is_lstm && node.has(7)) cell.peepholes = of_direction(b, node.input(7), d);
    std::vector<Typed> states;
    for (size_t i = 0; i < state_count; ++i) {
      if (node.has(5 + i)) {
        const Typed initial = batch_first ? b.transpose(node.input(5 + i), {1, 0, 2}) : node.input(5 + i);
        states.push_back(of_direction(b, initial, d));
      } else {
        states.push_back(b.call("full", {b.scalar(x.dtype(), 0), b.shape({batch, PrimExpr(hidden)})}));
      }
    }
    auto [steps, last] = run(cell, inputs, std::move(states), lengths);
    sequences.push_back(b.unsqueeze(reversed(steps), 1));
    for (size_t i = 0; i < state_count; ++i) finals[i].push_back(b.unsqueeze(last[i], 0));
  }
  const auto joined = [&](const std::vector<Typed>& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : b.call_tuple("concat", parts, {{"axis", axis}});
  };
  Results results = {joined(sequences, 1)};
  if (batch_first) results[0] = b.transpose(results[0], {2, 0, 1, 3});
  for (const auto& states : finals) {
    results.push_back(joined(states, 0));
    if (batch_first) results.back() = b.transpose(results.back(), {1, 0, 2});
  }
  return results;
}

}  // namespace

Results convert_rnn(const Node& node) { return recurrent(node, "RNN", 1, {"Tanh"}); }
Results convert_gru(const Node& node) { return recurrent(node, "GRU", 3, {"Sigmoid", "Tanh"}); }
Results convert_lstm(const Node& node) { return recurrent(node, "LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}); }

// Weights [directions, rows, gates] of 8 bits; what they are multiplied with is brought to 8 bits by its range.
Results convert_dynamic_quantize_lstm(const Node& node) {
  auto& b = node.builder();
  const auto product = [&](size_t weight, size_t scale) {
    return [&node, &b, weight, scale](const Typed& x, size_t direction) {
      const auto at = [&](size_t i) { return of_direction(b, node.input(i), direction); };
      const Quantized q = dynamic_quantize(b, x);
      return scaled_product(b, q.values, q.scale, q.zero, at(weight), at(scale), at(scale + 1));
    };
  };
  const Products products{product(1, 8), product(2, 10)};
  return recurrent(node, "LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}, &products);
}

}  // namespace ingot::onnx_import
