#include <algorithm>
#include <array>

#include "compiler/onnx/conversions.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

// The attributes that windows over two spatial dimensions share.
struct Window {
  std::vector<int64_t> kernel, strides, dilation, padding;  // padding: top, left, bottom, right
};

int64_t static_dim(const Typed& value, size_t i, std::string_view why) {
  const auto dim = value.dim(i).as_const();
  if (!dim) fail(ErrorCode::Unsupported, "{} needs dimension {} to be known, it is {}", why, i, to_text(value.dim(i)));
  return *dim;
}

std::vector<int64_t> pair(const Node& node, std::string_view name) {
  auto values = node.integers(name).value_or(std::vector<int64_t>{1, 1});
  if (values.size() != 2)
    fail(ErrorCode::Unsupported, "{} has {} values; only two spatial dimensions are supported", name, values.size());
  return values;
}

Window window(const Node& node, std::vector<int64_t> kernel) {
  const Typed& data = node.input(0);
  if (data.rank() != 4) fail(ErrorCode::Unsupported, "the data has rank {}; only rank 4 is supported", data.rank());
  if (kernel.size() != 2)
    fail(ErrorCode::Unsupported, "kernel_shape has {} values; only two spatial dimensions are supported",
         kernel.size());
  Window w{std::move(kernel), pair(node, "strides"), pair(node, "dilations"), {0, 0, 0, 0}};
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) {
    w.padding = node.integers("pads").value_or(w.padding);
    if (w.padding.size() != 4) fail(ErrorCode::ShapeMismatch, "pads has {} values, expected 4", w.padding.size());
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (size_t i = 0; i < 2; ++i) {
      const int64_t size = static_dim(data, i + 2, "automatic padding");
      if (w.strides[i] <= 0) fail(ErrorCode::ShapeMismatch, "stride {} is {}", i, w.strides[i]);
      const int64_t outputs = (size + w.strides[i] - 1) / w.strides[i];
      const int64_t total =
          std::max<int64_t>(0, (outputs - 1) * w.strides[i] + w.dilation[i] * (w.kernel[i] - 1) + 1 - size);
      const int64_t less = total / 2;
      w.padding[i] = mode == "SAME_UPPER" ? less : total - less;
      w.padding[i + 2] = total - w.padding[i];
    }
  } else if (mode != "VALID") {
    fail(ErrorCode::InvalidArgument, "auto_pad is '{}'", mode);
  }
  return w;
}

ir::Attrs pool_attributes(const Node& node) {
  auto kernel = node.integers("kernel_shape");
  if (!kernel) fail(ErrorCode::InvalidArgument, "attribute kernel_shape is missing");
  Window w = window(node, *std::move(kernel));
  return {{"pool_size", w.kernel},
          {"strides", w.strides},
          {"dilation", w.dilation},
          {"padding", w.padding},
          {"ceil_mode", node.integer("ceil_mode", 0) != 0}};
}

}  // namespace

Results convert_conv(const Node& node) {
  const Typed& weight = node.input(1);
  if (weight.rank() != 4)
    fail(ErrorCode::Unsupported, "the weight has rank {}; only rank 4 is supported", weight.rank());
  auto kernel = node.integers("kernel_shape")
                    .value_or(std::vector<int64_t>{static_dim(weight, 2, "a convolution"),
                                                   static_dim(weight, 3, "a convolution")});
  Window w = window(node, std::move(kernel));
  Typed result = node.builder().call(
      "conv2d", {node.input(0), weight},
      {{"strides", w.strides}, {"padding", w.padding}, {"dilation", w.dilation}, {"groups", node.integer("group", 1)}});
  if (node.has(2)) result = node.builder().call("bias_add", {result, node.input(2)}, {{"axis", int64_t{1}}});
  return {result};
}

Results convert_max_pool(const Node& node) {
  if (node.wants(1)) fail(ErrorCode::Unsupported, "output 1 (Indices) is not supported");
  return {node.builder().call("max_pool2d", {node.input(0)}, pool_attributes(node))};
}

Results convert_average_pool(const Node& node) {
  ir::Attrs attrs = pool_attributes(node);
  attrs["count_include_pad"] = node.integer("count_include_pad", 0) != 0;
  return {node.builder().call("avg_pool2d", {node.input(0)}, std::move(attrs))};
}

Results convert_global_average_pool(const Node& node) {
  return {node.builder().call("global_avg_pool2d", {node.input(0)})};
}
Results convert_global_max_pool(const Node& node) {
  return {node.builder().call("global_max_pool2d", {node.input(0)})};
}

Results convert_lrn(const Node& node) {
  return {node.builder().call("lrn", {node.input(0)},
                              {{"size", node.integer("size", 1)},
                               {"axis", int64_t{1}},
                               {"alpha", node.number("alpha", 0.0001)},
                               {"beta", node.number("beta", 0.75)},
                               {"bias", node.number("bias", 1.0)}})};
}

Results convert_batch_normalization(const Node& node) {
  if (node.integer("spatial", 1) == 0) fail(ErrorCode::Unsupported, "spatial=0 is not supported");
  if (node.opset() >= 14 && node.integer("training_mode", 0) != 0)
    fail(ErrorCode::Unsupported, "training_mode=1 is not supported");
  const Typed result = node.builder().call("batch_norm", node.all_inputs(),
                                           {{"axis", int64_t{1}}, {"epsilon", node.number("epsilon", 1e-5)}});
  return {result.info->kind == InfoKind::Tuple ? node.builder().field(result, 0) : result};
}

Results convert_gemm(const Node& node) {
  const ir::Attrs attrs = {{"alpha", node.number("alpha", 1.0)},
                           {"beta", node.number("beta", 1.0)},
                           {"transpose_a", node.integer("transA", 0) != 0},
                           {"transpose_b", node.integer("transB", 0) != 0}};
  return {node.builder().call("gemm", node.all_inputs(), attrs)};
}

}  // namespace ingot::onnx_import
