#pragma once
#include <optional>
#include <vector>

#include "compiler/onnx/node.h"

namespace ingot::onnx_import {

// What convolutions and pools say of their windows: padding lists what is before each spatial dimension, then what is
// behind each.
struct Window {
  std::vector<int64_t> kernel, strides, dilation, padding;
};

// From attributes strides, dilations, pads and auto_pad, for data [N, C, ...].
Window window(const Node& node, const Typed& data, std::vector<int64_t> kernel);

// Convolution of data [N, C, ...] of any dtype and rank; `w` [M, C / groups, ...].
Typed convolution(GraphBuilder& b, const Typed& x, const Typed& w, const Window& window, int64_t groups);

// AveragePool of other data than the first input.
Typed average_pool(const Node& node, const Typed& x);

// [N, ..., C] to [N, C, ...], and back.
Typed channels_first(GraphBuilder& b, const Typed& x);
Typed channels_last(GraphBuilder& b, const Typed& x);

// The spatial dimensions of a weight as numbers, unless attribute kernel_shape says them.
std::vector<int64_t> kernel_shape(const Node& node, const Typed& weight);

}  // namespace ingot::onnx_import
