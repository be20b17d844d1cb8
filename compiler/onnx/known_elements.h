#pragma once
#include <functional>
#include <optional>
#include <span>

#include "compiler/onnx/graph_builder.h"

// Integer tensors of rank 2 and more whose elements are known when the model is compiled: exporters lay out paddings as
// matrices, and turn and cut them.
namespace ingot::onnx_import {

// The elements, row-major, where they and all dimensions are known; at most 4096.
std::optional<Dims> known_elements(const Typed& x);
// The result as a constant or, in rank 2 and more, with these elements noted.
Typed with_elements(GraphBuilder& b, Typed result, Dims elements);
// The same, each element taken from the coordinates in `from` that `source` gives for those in the result; the result
// as it is where the elements or dimensions are not known.
Typed with_elements_of(GraphBuilder& b, const Typed& from, Typed result,
                       const std::function<void(std::span<const int64_t> to, std::span<int64_t> at)>& source);

}  // namespace ingot::onnx_import
