#pragma once
#include <string_view>

#include "compiler/onnx/node.h"

namespace ingot::onnx_import {

Results convert_same(const Node& node, std::string_view op);
Results convert_binary(const Node& node, std::string_view op);

#define SAME(name, op)
#define BINARY(name, op)
#define CONVERT(name, function) Results function(const Node& node);
#include "compiler/onnx/onnx_ops.def"

}  // namespace ingot::onnx_import
