#include <numbers>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::onnx_import {
namespace {

// first - second * cos(2 pi n / N) + third * cos(4 pi n / N), N one less where the window is not periodic.
Results cosine_window(const Node& node, double first, double second, double third) {
  auto& b = node.builder();
  const DType dtype = dtype_of(node.element_type("output_datatype", 1));
  const Typed size = b.reshape(b.cast(node.input(0), DType::Int64), {});
  const auto count = known_values(node.input(0));
  const Typed n =
      count && count->size() == 1
          ? b.positions(count->front())
          : b.builtin("range", {b.scalar(DType::Int64, 0), size, b.scalar(DType::Int64, 1)}, of_rank(DType::Int64, 1));
  const Typed period = node.flag("periodic", true) ? size : b.call("subtract", size, 1.0);
  const Typed angle =
      b.call("multiply", b.divide(b.cast(n, DType::Float64), b.cast(period, DType::Float64)), 2 * std::numbers::pi);
  const auto term = [&](const Typed& x, double weight) { return b.call("multiply", b.call("cos", {x}), weight); };
  Typed result = b.subtract(b.scalar(DType::Float64, first), term(angle, second));
  if (third != 0) result = b.add(result, term(b.call("multiply", angle, 2.0), third));
  return {b.cast(result, dtype)};
}

}  // namespace

Results convert_hann_window(const Node& node) { return cosine_window(node, 0.5, 0.5, 0); }
Results convert_hamming_window(const Node& node) { return cosine_window(node, 25.0 / 46, 21.0 / 46, 0); }
Results convert_blackman_window(const Node& node) { return cosine_window(node, 0.42, 0.5, 0.08); }

Results convert_mel_weight_matrix(const Node& node) {
  auto& b = node.builder();
  const DType dtype = dtype_of(node.element_type("output_datatype", 1));
  return {b.builtin("mel_weights",
                    {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4), b.scalar(dtype, 0)},
                    of_rank(dtype, 2))};
}

// The axis is an attribute before opset 20 and an input from it on.
Results convert_dft(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const Typed axis = node.opset() < 20 ? b.prim(node.integer("axis", 1)) : node.has(2) ? node.input(2) : b.prim(-2);
  return {b.builtin("dft",
                    {x, node.input_or_none(1), axis, b.prim(node.flag("inverse")), b.prim(node.flag("onesided"))},
                    of_rank(x.dtype(), x.rank()))};
}

Results convert_stft(const Node& node) {
  auto& b = node.builder();
  return {b.builtin(
      "stft",
      {node.input(0), node.input(1), node.input_or_none(2), node.input_or_none(3), b.prim(node.flag("onesided", true))},
      of_rank(node.input(0).dtype(), 4))};
}

Results convert_det(const Node& node) {
  const Typed& x = node.input(0);
  if (x.rank() < 2) fail(ErrorCode::ShapeMismatch, "input 0 has rank {}, it must have 2 or more", x.rank());
  return {
      node.builder().builtin("determinant", {x}, tensor_info(x.dtype(), Dims(x.dims().begin(), x.dims().end() - 2)))};
}

namespace {

Typed seed_of(const Node& node) {
  const auto* seed = node.find("seed");
  if (seed == nullptr) return node.builder().none();
  // Dropout's is an integer.
  return node.builder().scalar(DType::Float64, seed->type() == onnx::AttributeProto::INT
                                                   ? static_cast<double>(node.integer("seed", 0))
                                                   : node.number("seed", 0));
}

Typed random_tensor(const Node& node, const Typed& shape, bool normal, double a, double b_, DType dtype,
                    StructInfo info) {
  auto& b = node.builder();
  return b.builtin("random_numbers",
                   {shape, b.prim(normal), b.scalar(DType::Float64, a), b.scalar(DType::Float64, b_), seed_of(node),
                    b.scalar(dtype, 0)},
                   std::move(info));
}

Results random(const Node& node, bool normal, bool like) {
  auto& b = node.builder();
  const auto* type = node.find("dtype");
  DType dtype = type != nullptr ? dtype_of(static_cast<int32_t>(type->i())) : DType::Float32;
  Dims dims;
  if (like) {
    if (type == nullptr) dtype = node.input(0).dtype();
    dims = node.input(0).dims();
  } else {
    const auto shape = node.integers("shape").value_or(std::vector<int64_t>{});
    dims.assign(shape.begin(), shape.end());
  }
  const double first = normal ? node.number("mean", 0) : node.number("low", 0);
  const double second = normal ? node.number("scale", 1) : node.number("high", 1);
  return {random_tensor(node, b.shape(dims), normal, first, second, dtype, tensor_info(dtype, dims))};
}

}  // namespace

Results convert_random_normal(const Node& node) { return random(node, true, false); }
Results convert_random_normal_like(const Node& node) { return random(node, true, true); }
Results convert_random_uniform(const Node& node) { return random(node, false, false); }
Results convert_random_uniform_like(const Node& node) { return random(node, false, true); }

Results convert_bernoulli(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto* type = node.find("dtype");
  const DType dtype = type != nullptr ? dtype_of(static_cast<int32_t>(type->i())) : x.dtype();
  const Typed drawn = random_tensor(node, b.shape(x.dims()), false, 0, 1, x.dtype(), x.info);
  return {b.cast(b.call("less", {drawn, x}), dtype)};
}

Results convert_multinomial(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const DType dtype = dtype_of(node.element_type("dtype", 6));
  const int64_t samples = node.integer("sample_size", 1, 1);
  return {b.builtin("multinomial", {x, b.prim(samples), seed_of(node), b.scalar(dtype, 0)},
                    tensor_info(dtype, Dims{x.dim(0), PrimExpr(samples)}))};
}

// Nothing is dropped unless an input says that the network is trained.
Results convert_dropout(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto full_mask = [&] { return b.call("full", {b.scalar(DType::Bool, 1), b.shape(x.dims())}); };
  const auto trains = node.has(2) ? known_integers(node.input(2)) : std::vector<int64_t>{0};
  if (node.opset() < 12 || (trains && trains->size() == 1 && trains->front() == 0)) {
    if (!node.wants(1)) return {x};
    return {x, node.opset() < 10 ? b.cast(full_mask(), x.dtype()) : full_mask()};
  }
  const Typed ratio = node.has(1) ? b.cast(b.reshape(node.input(1), {}), x.dtype()) : b.scalar(x.dtype(), 0.5);
  const Typed training = b.reshape(node.input(2), {});
  const Typed drawn = random_tensor(node, b.shape(x.dims()), false, 0, 1, x.dtype(), x.info);
  const Typed kept = b.call("logical_or", {b.call("greater_equal", {drawn, ratio}), b.call("logical_not", {training})});
  const Typed scale = b.divide(b.scalar(x.dtype(), 1), b.subtract(b.scalar(x.dtype(), 1), ratio));
  const Typed scaled = b.call("where", {training, b.multiply(x, scale), x});
  return {b.call("where", {kept, scaled, b.scalar(x.dtype(), 0)}), kept};
}

}  // namespace ingot::onnx_import
