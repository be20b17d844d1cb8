#include "runtime/kernels/reference.h"

#include <cmath>
#include <numbers>

#include "runtime/kernels/strides.h"

namespace ingot::reference {

double activate(const PostOp& op, double value) {
  switch (op.kind) {
    case PostOpKind::Relu:
      return value > 0 ? value : 0;
    case PostOpKind::LeakyRelu:
      return value > 0 ? value : op.alpha * value;
    case PostOpKind::Clip:
      return std::min(std::max(value, op.alpha), op.beta);
    case PostOpKind::Sigmoid:
      return 1 / (1 + std::exp(-value));
    case PostOpKind::Tanh:
      return std::tanh(value);
    case PostOpKind::Gelu:
      return 0.5 * value * (1 + std::erf(value / std::numbers::sqrt2));
    case PostOpKind::Add:
      break;
  }
  return value;
}

PostOps::PostOps(const Problem& problem, size_t first_input) {
  size_t input = first_input;
  for (const PostOp& op : problem.call->post_ops) {
    Step step{.op = op, .input = 0, .strides = {}};
    if (op.kind == PostOpKind::Add) {
      step.input = input++;
      step.strides = broadcast_strides(problem.inputs[step.input], problem.outputs[0].dims);
    }
    steps_.push_back(std::move(step));
  }
}

}  // namespace ingot::reference
