#include <algorithm>

#include "compiler/onnx/conversions.h"
#include "compiler/onnx/spatial.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

int64_t static_dim(const Typed& x, size_t d, std::string_view what) {
  const auto value = x.dim(d).as_const();
  if (!value)
    fail(ErrorCode::Unsupported, "dimension {} is {}, but {} needs a known one; give it with --shape", d,
         to_text(x.dim(d)), what);
  return *value;
}

Typed biased(const Node& node, Typed result) {
  if (!node.has(2)) return result;
  return node.builder().call("bias_add", {result, node.input(2)}, {{"axis", int64_t{1}}});
}

}  // namespace

Window window(const Node& node, const Typed& data, std::vector<int64_t> kernel) {
  if (data.rank() < 3) fail(ErrorCode::ShapeMismatch, "the data has rank {}, it must have 3 or more", data.rank());
  const size_t spatial = data.rank() - 2;
  if (kernel.size() != spatial)
    fail(ErrorCode::ShapeMismatch, "kernel_shape has {} values for {} spatial dimensions", kernel.size(), spatial);
  Window w{std::move(kernel), node.integers("strides", spatial, 1, 1, INT32_MAX),
           node.integers("dilations", spatial, 1, 1, INT32_MAX), std::vector<int64_t>(2 * spatial, 0)};
  const std::string mode = node.choice("auto_pad", "NOTSET", {"NOTSET", "", "SAME_UPPER", "SAME_LOWER", "VALID"});
  if (mode == "NOTSET" || mode.empty()) {
    w.padding = node.integers("pads", 2 * spatial, 0, 0, INT32_MAX);
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t size = static_dim(data, i + 2, "automatic padding");
      const int64_t outputs = (size + w.strides[i] - 1) / w.strides[i];
      const int64_t total =
          std::max<int64_t>(0, (outputs - 1) * w.strides[i] + w.dilation[i] * (w.kernel[i] - 1) + 1 - size);
      const int64_t less = total / 2;
      w.padding[i] = mode == "SAME_UPPER" ? less : total - less;
      w.padding[i + spatial] = total - w.padding[i];
    }
  }
  return w;
}

Typed channels_first(GraphBuilder& b, const Typed& x) {
  std::vector<int64_t> axes = {0, static_cast<int64_t>(x.rank()) - 1};
  for (size_t d = 1; d + 1 < x.rank(); ++d) axes.push_back(static_cast<int64_t>(d));
  return b.transpose(x, axes);
}

Typed channels_last(GraphBuilder& b, const Typed& x) {
  std::vector<int64_t> axes = {0};
  for (size_t d = 2; d < x.rank(); ++d) axes.push_back(static_cast<int64_t>(d));
  axes.push_back(1);
  return b.transpose(x, axes);
}

std::vector<int64_t> kernel_shape(const Node& node, const Typed& weight) {
  std::vector<int64_t> kernel;
  const auto given = node.integers("kernel_shape");
  if (given && given->size() + 2 != weight.rank())
    fail(ErrorCode::ShapeMismatch, "attribute kernel_shape has {} values, the weight has rank {}", given->size(),
         weight.rank());
  for (size_t d = 2; d < weight.rank(); ++d) {
    const auto known = weight.dim(d).as_const();
    if (given && known && *known != (*given)[d - 2])
      fail(ErrorCode::ShapeMismatch, "attribute kernel_shape has {}, dimension {} of the weight has {}",
           (*given)[d - 2], d, *known);
    kernel.push_back(given ? (*given)[d - 2] : static_dim(weight, d, "a convolution"));
  }
  return kernel;
}

// One dimension is two, the first of them 1: the library computes with two.
Typed convolution(GraphBuilder& b, const Typed& x, const Typed& w, const Window& window, int64_t groups) {
  const size_t spatial = x.rank() - 2;
  const auto attributes = [&](const Window& v) -> ir::Attrs {
    return {{"strides", v.strides}, {"padding", v.padding}, {"dilation", v.dilation}, {"groups", groups}};
  };
  if (spatial == 2 && is_float(x.dtype())) return b.call("conv2d", {x, w}, attributes(window));
  if (spatial != 1 || !is_float(x.dtype())) return b.call("conv_nd", {x, w}, attributes(window));
  const Window flat{{1, window.kernel[0]},
                    {1, window.strides[0]},
                    {1, window.dilation[0]},
                    {0, window.padding[0], 0, window.padding[1]}};
  return b.squeeze(b.call("conv2d", {b.unsqueeze(x, 2), b.unsqueeze(w, 2)}, attributes(flat)), 2);
}

Results convert_conv(const Node& node) {
  const Typed &x = node.input(0), &weight = node.input(1);
  if (weight.rank() != x.rank())
    fail(ErrorCode::ShapeMismatch, "the data has rank {}, the weight {}", x.rank(), weight.rank());
  const Window w = window(node, x, kernel_shape(node, weight));
  return {biased(node, convolution(node.builder(), x, weight, w, node.integer("group", 1, 1, INT32_MAX)))};
}

// A convolution of the data with zeros between its elements, with the mirrored weight.
Results convert_conv_transpose(const Node& node) {
  auto& b = node.builder();
  const Typed &x = node.input(0), &weight = node.input(1);
  if (weight.rank() != x.rank() || x.rank() < 3)
    fail(ErrorCode::ShapeMismatch, "the data has rank {}, the weight {}", x.rank(), weight.rank());
  const size_t spatial = x.rank() - 2;
  const int64_t groups = node.integer("group", 1, 1, INT32_MAX);
  const auto kernel = kernel_shape(node, weight);
  const auto strides = node.integers("strides", spatial, 1, 1, INT32_MAX),
             dilation = node.integers("dilations", spatial, 1, 1, INT32_MAX);
  auto extra = node.integers("output_padding", spatial, 0, 0, INT32_MAX);
  auto padding = node.integers("pads", 2 * spatial, 0, 0, INT32_MAX);
  const std::string mode = node.choice("auto_pad", "NOTSET", {"NOTSET", "", "SAME_UPPER", "SAME_LOWER", "VALID"});
  const auto shape = node.integers("output_shape");
  if (shape && shape->size() != spatial && shape->size() != spatial + 2)
    fail(ErrorCode::ShapeMismatch, "attribute output_shape has {} values for {} spatial dimensions", shape->size(),
         spatial);
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (shape || same) {
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t size = static_dim(x, 2 + i, "a given output shape");
      const int64_t wanted = shape ? shape->at(shape->size() - spatial + i) : size * strides[i];
      if (wanted < 1) fail(ErrorCode::InvalidArgument, "attribute output_shape has {}, it must be 1 or more", wanted);
      const int64_t total = strides[i] * (size - 1) + extra[i] + (kernel[i] - 1) * dilation[i] + 1 - wanted;
      // What is missing is added behind.
      if (total < 0) extra[i] -= total;
      const int64_t least = std::max<int64_t>(0, total);
      padding[i] = mode == "SAME_UPPER" ? least / 2 : least - least / 2;
      padding[spatial + i] = least - padding[i];
    }
  } else if (mode == "VALID") {
    std::ranges::fill(padding, 0);
  }
  std::vector<int64_t> steps = {1, 1}, before = {0, 0}, after = {0, 0}, flipped;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t reach = dilation[i] * (kernel[i] - 1);
    steps.push_back(strides[i]);
    before.push_back(reach - padding[i]);
    after.push_back(reach - padding[spatial + i] + extra[i]);
    flipped.push_back(static_cast<int64_t>(2 + i));
  }
  // [C, M / g, ...] becomes [M, C / g, ...].
  const PrimExpr per_group = floor_div(weight.dim(0), groups);
  const PrimExpr& outputs = weight.dim(1);
  Dims grouped = {PrimExpr(groups), per_group, outputs}, joined = {outputs * groups, per_group};
  std::vector<int64_t> order = {0, 2, 1};
  for (size_t i = 0; i < spatial; ++i) {
    grouped.push_back(weight.dim(2 + i));
    joined.push_back(weight.dim(2 + i));
    order.push_back(static_cast<int64_t>(3 + i));
  }
  Typed w = b.call("flip", {weight}, {{"axis", flipped}});
  w = b.reshape(b.transpose(b.reshape(w, grouped), order), joined);
  const Typed spread = b.call("insert_zeros", {x}, {{"steps", steps}, {"before", before}, {"after", after}});
  const Window plain{kernel, std::vector<int64_t>(spatial, 1), dilation, std::vector<int64_t>(2 * spatial, 0)};
  return {biased(node, convolution(b, spread, w, plain, groups))};
}

Results convert_gemm(const Node& node) {
  const ir::Attrs attrs = {{"alpha", node.number("alpha", 1.0)},
                           {"beta", node.number("beta", 1.0)},
                           {"transpose_a", node.flag("transA")},
                           {"transpose_b", node.flag("transB")}};
  std::vector<Typed> inputs = {node.input(0), node.input(1)};
  if (node.has(2)) inputs.push_back(node.input(2));
  return {node.builder().call("gemm", inputs, attrs)};
}

}  // namespace ingot::onnx_import
