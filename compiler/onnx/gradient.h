#pragma once
#include <functional>
#include <span>
#include <string>

#include <onnx/onnx_pb.h>

#include "compiler/onnx/graph_builder.h"

namespace ingot::onnx_import {

// The derivatives of the sum of `y` by each of `xs`, which are values of the graph: the nodes before number `before`
// are walked backwards. Unsupported, naming it, for an operator on the way whose derivative is not known here; a value
// that `y` does not depend on has zeros.
std::vector<Typed> gradients(GraphBuilder& b, const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                             int before, std::span<const std::string> xs, const std::string& y,
                             const std::function<Typed(const std::string&)>& value);

}  // namespace ingot::onnx_import
