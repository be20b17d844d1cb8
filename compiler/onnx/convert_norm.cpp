#include <algorithm>
#include <numeric>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

// Before opset 13 the tensor is taken as a matrix: the dimensions before `axis`, and those from it on.
Results as_matrix(const Node& node, const std::function<Typed(const Typed&, int64_t axis)>& apply) {
  const Typed& data = node.input(0);
  const int64_t given = node.integer("axis", node.opset() < 13 ? 1 : -1);
  auto& builder = node.builder();
  if (node.opset() >= 13) return {apply(data, node.axis(given, data.rank()))};
  const bool end = given == static_cast<int64_t>(data.rank());
  const int64_t axis = end ? given : node.axis(given, data.rank());
  if (axis + 1 == static_cast<int64_t>(data.rank())) return {apply(data, axis)};
  const Typed matrix = builder.call("flatten", {data}, {{"axis", axis}});
  return {builder.reshape(apply(matrix, 1), data.dims())};
}

// A vector for the channels of data [N, C, ...].
Typed for_channels(GraphBuilder& b, Typed vector, size_t rank) {
  if (rank > 2)
    vector = b.call("expand_dims", {vector}, {{"axis", int64_t{1}}, {"num_newaxis", static_cast<int64_t>(rank) - 2}});
  return vector;
}

std::vector<int64_t> from_axis(int64_t axis, size_t rank) {
  std::vector<int64_t> axes(rank - static_cast<size_t>(axis));
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

}  // namespace

Results convert_softmax(const Node& node) {
  return as_matrix(node, [&](const Typed& x, int64_t axis) {
    return node.builder().call("softmax", {x}, {{"axis", axis}});
  });
}
Results convert_log_softmax(const Node& node) {
  return as_matrix(node, [&](const Typed& x, int64_t axis) {
    return node.builder().call("log_softmax", {x}, {{"axis", axis}});
  });
}
// 1 at the first of the greatest.
Results convert_hardmax(const Node& node) {
  auto& b = node.builder();
  return as_matrix(node, [&](const Typed& x, int64_t axis) {
    const Typed best = b.call("argmax", {x}, {{"axis", std::vector{axis}}, {"keepdims", true}});
    const PrimExpr& extent = x.dim(static_cast<size_t>(axis));
    Typed places = b.positions(extent);
    for (auto d = static_cast<size_t>(axis) + 1; d < x.rank(); ++d)
      places = b.unsqueeze(places, static_cast<int64_t>(places.rank()));
    return b.cast(b.call("equal", {best, places}), x.dtype());
  });
}

Results convert_batch_normalization(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const double epsilon = node.number("epsilon", 1e-5);
  const bool trains =
      node.opset() >= 14 ? node.flag("training_mode") : node.opset() < 7 && !node.flag("is_test") && node.wants(1);
  if (node.integer("spatial", 1) == 0 && x.rank() > 2) {
    // Statistics of each element of a sample.
    const auto whole = [&](size_t i) { return node.input(i); };
    const Typed deviation = b.call("sqrt", {b.call("add", whole(4), epsilon)});
    const Typed normal = b.divide(b.subtract(x, whole(3)), deviation);
    return {b.add(b.multiply(normal, whole(1)), whole(2))};
  }
  const auto statistic = [&](size_t i) { return b.cast(node.input(i), x.dtype()); };
  if (!trains)
    return {b.call("batch_norm", {x, statistic(1), statistic(2), statistic(3), statistic(4)},
                   {{"axis", int64_t{1}}, {"epsilon", epsilon}})};
  std::vector<int64_t> axes = {0};
  for (size_t d = 2; d < x.rank(); ++d) axes.push_back(static_cast<int64_t>(d));
  const Typed mean = b.call("mean", {x}, {{"axis", axes}}), variance = b.call("variance", {x}, {{"axis", axes}});
  const double momentum = node.number("momentum", 0.9);
  const auto moved = [&](const Typed& running, const Typed& now) {
    const Typed fresh = b.cast(now, running.dtype());
    return b.add(b.call("multiply", running, momentum), b.call("multiply", fresh, 1 - momentum));
  };
  Results results = {b.call("batch_norm", {x, statistic(1), statistic(2), mean, variance},
                            {{"axis", int64_t{1}}, {"epsilon", epsilon}}),
                     moved(node.input(3), mean), moved(node.input(4), variance)};
  if (node.opset() < 14) {
    results.push_back(mean);
    results.push_back(variance);
  }
  return results;
}

Results convert_instance_normalization(const Node& node) {
  auto& b = node.builder();
  return {b.call("instance_norm", {node.input(0), node.input(1), node.input(2)},
                 {{"epsilon", node.number("epsilon", 1e-5)}})};
}

// Also gives the mean and the inverse deviation, where they are wanted.
Results convert_layer_normalization(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  const auto axes = from_axis(axis, x.rank());
  const double epsilon = node.number("epsilon", 1e-5);
  const DType stash = dtype_of(node.element_type("stash_type", 1));
  const Typed wide = b.cast(x, stash);
  const Typed mean = b.call("mean", {wide}, {{"axis", axes}, {"keepdims", true}});
  const Typed variance = b.call("variance", {wide}, {{"axis", axes}, {"keepdims", true}});
  const Typed inverse = b.call("rsqrt", {b.call("add", variance, epsilon)});
  Typed result;
  const Typed& scale = node.input(1);
  const bool plain = scale.rank() == axes.size() && (!node.has(2) || node.input(2).rank() == axes.size());
  if (plain && node.has(2) && x.dtype() == stash) {
    result = b.call("layer_norm", {x, scale, node.input(2)}, {{"axes", axes}, {"epsilon", epsilon}});
  } else {
    result = b.multiply(b.cast(b.multiply(b.subtract(wide, mean), inverse), x.dtype()), scale);
    if (node.has(2)) result = b.add(result, node.input(2));
  }
  return {result, mean, inverse};
}

Results convert_rms_normalization(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  const auto axes = from_axis(axis, x.rank());
  const Typed wide = b.cast(x, dtype_of(node.element_type("stash_type", 1)));
  const Typed square = b.call("mean", {b.multiply(wide, wide)}, {{"axis", axes}, {"keepdims", true}});
  const Typed inverse = b.call("rsqrt", {b.call("add", square, node.number("epsilon", 1e-5))});
  const Typed normal = b.cast(b.multiply(wide, inverse), x.dtype());
  return {b.multiply(normal, b.cast(node.input(1), x.dtype())), b.none(), inverse};
}

// Scale and bias are for groups before opset 21, for channels from it on.
Results convert_group_normalization(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t groups = node.integer("num_groups", 1, 1);
  const auto channels = x.dim(1).as_const();
  if (!channels || groups < 1 || *channels % groups != 0)
    fail(ErrorCode::ShapeMismatch, "{} groups do not divide {} channels", groups, to_text(x.dim(1)));
  const auto spread = [&](const Typed& vector) {
    return node.opset() >= 21 ? vector
                              : b.call("repeat", {vector}, {{"repeats", *channels / groups}, {"axis", int64_t{0}}});
  };
  return {b.call("group_norm", {x, spread(node.input(1)), spread(node.input(2))},
                 {{"num_groups", groups}, {"epsilon", node.number("epsilon", 1e-5)}})};
}

Results convert_mean_variance_normalization(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const auto axes = node.integers("axes").value_or(std::vector<int64_t>{0, 2, 3});
  const ir::Attrs along = {{"axis", axes}, {"keepdims", true}};
  const Typed centred = b.subtract(x, b.call("mean", {x}, along));
  const Typed deviation = b.call("sqrt", {b.call("variance", {x}, along)});
  return {b.divide(centred, b.call("add", deviation, 1e-9))};
}

Results convert_lp_normalization(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const int64_t p = node.integer("p", 2, 1, 2);
  const ir::Attrs along = {{"axis", std::vector{node.axis(node.integer("axis", -1), x.rank())}}, {"keepdims", true}};
  const Typed norm =
      p == 1 ? b.call("sum", {b.call("abs", {x})}, along) : b.call("sqrt", {b.call("sum", {b.multiply(x, x)}, along)});
  const Typed zero = b.call("equal", norm, 0.0);
  return {b.call("where", {zero, b.scalar(x.dtype(), 0), b.divide(x, norm)})};
}

Results convert_lrn(const Node& node) {
  return {node.builder().call("lrn", {node.input(0)},
                              {{"size", node.integer("size", 1, 1)},
                               {"axis", int64_t{1}},
                               {"alpha", node.number("alpha", 0.0001)},
                               {"beta", node.number("beta", 0.75)},
                               {"bias", node.number("bias", 1.0)}})};
}

Results convert_scaler(const Node& node) {
  auto& b = node.builder();
  const Typed& x = node.input(0);
  const Typed scaled = b.call("multiply", x, node.number("scale", 1.0));
  const auto bias = node.numbers("bias").value_or(std::vector<double>{});
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(static_cast<int64_t>(bias.size()));
  for (const double value : bias) tensor.add_float_data(static_cast<float>(value));
  return {b.add(scaled, b.cast(for_channels(b, b.constant(read_tensor(tensor)), x.rank()), x.dtype()))};
}

}  // namespace ingot::onnx_import
