#include "compiler/onnx/conversions.h"
#include "runtime/base/error.h"

// One step of an optimiser on any number of tensors: learning rate, step number, then each kind of tensor in turn.
namespace ingot::onnx_import {
namespace {

struct Step {
  const Node& node;
  GraphBuilder& b;
  size_t count;
  Typed rate, number;

  explicit Step(const Node& n, size_t kinds)
      : node(n), b(n.builder()), count(0), rate(b.reshape(n.input(0), {})), number() {
    if (n.inputs() < 2 || (n.inputs() - 2) % kinds != 0)
      fail(ErrorCode::ArityMismatch, "{} inputs are no rate, step and {} tensors each", n.inputs(), kinds);
    count = (n.inputs() - 2) / kinds;
    number = b.reshape(n.input(1), {});
  }
  Typed tensor(size_t kind, size_t i) const { return node.input(2 + kind * count + i); }
  Typed scaled(const Typed& x, double by) const { return b.call("multiply", x, by); }
  Typed gradient(size_t i) const {
    return b.add(scaled(tensor(0, i), node.number("norm_coefficient", 0)), tensor(1, i));
  }
};

// The results of each kind, one kind after the other.
Results in_order(const std::vector<std::vector<Typed>>& kinds) {
  Results results;
  for (const auto& kind : kinds) results.insert(results.end(), kind.begin(), kind.end());
  return results;
}

}  // namespace

Results convert_adagrad(const Node& node) {
  const Step s(node, 3);
  auto& b = s.b;
  const Typed decay = s.scaled(b.cast(s.number, s.rate.dtype()), node.number("decay_factor", 0));
  const Typed rate = b.divide(s.rate, b.call("add", decay, 1.0));
  std::vector<std::vector<Typed>> kinds(2);
  for (size_t i = 0; i < s.count; ++i) {
    const Typed gradient = s.gradient(i);
    const Typed squares = b.add(s.tensor(2, i), b.multiply(gradient, gradient));
    const Typed root = b.call("add", b.call("sqrt", {squares}), node.number("epsilon", 1e-6));
    kinds[0].push_back(b.subtract(s.tensor(0, i), b.divide(b.multiply(rate, gradient), root)));
    kinds[1].push_back(squares);
  }
  return in_order(kinds);
}

Results convert_adam(const Node& node) {
  const Step s(node, 4);
  auto& b = s.b;
  const double alpha = node.number("alpha", 0.9), beta = node.number("beta", 0.999);
  const Typed number = b.cast(s.number, s.rate.dtype());
  // 1 - base to the power of the step.
  const auto rest = [&](double base) {
    return b.subtract(b.scalar(s.rate.dtype(), 1), b.call("power", {b.scalar(s.rate.dtype(), base), number}));
  };
  const Typed corrected = b.divide(b.multiply(s.rate, b.call("sqrt", {rest(beta)})), rest(alpha));
  const Typed rate = b.call("where", {b.call("greater", number, 0.0), corrected, s.rate});
  std::vector<std::vector<Typed>> kinds(3);
  for (size_t i = 0; i < s.count; ++i) {
    const Typed gradient = s.gradient(i);
    const Typed mean = b.add(s.scaled(s.tensor(2, i), alpha), s.scaled(gradient, 1 - alpha));
    const Typed squares = b.add(s.scaled(s.tensor(3, i), beta), s.scaled(b.multiply(gradient, gradient), 1 - beta));
    const Typed root = b.call("add", b.call("sqrt", {squares}), node.number("epsilon", 1e-6));
    const Typed moved = b.subtract(s.tensor(0, i), b.divide(b.multiply(rate, mean), root));
    kinds[0].push_back(s.scaled(moved, 1 - node.number("norm_coefficient_post", 0)));
    kinds[1].push_back(mean);
    kinds[2].push_back(squares);
  }
  return in_order(kinds);
}

Results convert_momentum(const Node& node) {
  const Step s(node, 3);
  auto& b = s.b;
  const double alpha = node.number("alpha", 0);
  const Typed first = b.call("equal", s.number, 0.0);
  const Typed beta =
      b.call("where", {first, b.scalar(s.rate.dtype(), 1), b.scalar(s.rate.dtype(), node.number("beta", 1))});
  const bool nesterov = node.choice("mode", "standard", {"standard", "nesterov"}) == "nesterov";
  std::vector<std::vector<Typed>> kinds(2);
  for (size_t i = 0; i < s.count; ++i) {
    const Typed gradient = s.gradient(i);
    const Typed speed = b.add(s.scaled(s.tensor(2, i), alpha), b.multiply(beta, gradient));
    const Typed direction = nesterov ? b.add(gradient, s.scaled(speed, alpha)) : speed;
    kinds[0].push_back(b.subtract(s.tensor(0, i), b.multiply(s.rate, direction)));
    kinds[1].push_back(speed);
  }
  return in_order(kinds);
}

}  // namespace ingot::onnx_import
