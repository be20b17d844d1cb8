#pragma once
#include <string_view>

#include "compiler/onnx/node.h"

namespace ingot::onnx_import {

Results convert_same(const Node& node, std::string_view op);
Results convert_binary(const Node& node, std::string_view op);

// Within each sequence of x, whose time runs along `time` (0 or 1, the batch along the other), the order reversed.
Typed reverse_sequences(GraphBuilder& b, const Typed& x, const Typed& lengths, int64_t time);

// A constant of rank 1.
Typed string_tensor(GraphBuilder& b, const std::vector<std::string>& list);

#define SAME(name, op)
#define BINARY(name, op)
#define CONVERT(name, function) Results function(const Node& node);
#define CONVERT_IN(domain, name, function) Results function(const Node& node);
#include "compiler/onnx/onnx_ops.def"

}  // namespace ingot::onnx_import
