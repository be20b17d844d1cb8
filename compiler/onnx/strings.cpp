#include "compiler/onnx/strings.h"

#include <algorithm>
#include <array>

#include "compiler/onnx/conversions.h"
#include "compiler/ops/operands.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {
namespace {

constexpr std::array<std::string_view, 16> kMovers = {
    "DepthToSpace",    "Expand",    "GatherElements", "GatherND", "OneHot", "Pad",  "ReverseSequence", "Scatter",
    "ScatterElements", "ScatterND", "SpaceToDepth",   "Slice",    "Split",  "Tile", "Transpose",       "Where"};

bool is_string(const Node& node, size_t i) {
  return node.has(i) && node.input(i).is_tensor() && node.input(i).dtype() == DType::String;
}

}  // namespace

bool moves_strings(const Node& node) {
  if (std::ranges::find(kMovers, node.op()) == kMovers.end()) return false;
  for (size_t i = 0; i < node.inputs(); ++i)
    if (is_string(node, i)) return true;
  return false;
}

Results convert_places(const Node& node, Convert convert) {
  auto& b = node.builder();
  if (const std::string reduction = node.text("reduction", "none"); reduction != "none")
    fail(ErrorCode::TypeError, "reduction is '{}', strings can only be moved", reduction);
  Node moved = node;
  // What fills the margin, where nothing is given.
  if (node.op() == "Pad" && !node.has(2)) moved = moved.with_input(2, string_tensor(b, {""}));
  std::vector<Typed> parts;
  PrimExpr count = 0;
  for (size_t i = 0; i < moved.inputs(); ++i) {
    if (!is_string(moved, i)) continue;
    const Typed x = moved.input(i);
    const PrimExpr size = ops::product(x.dims());
    const Typed places = b.add(b.positions(size), b.tensor_of({count}, 0));
    parts.push_back(x.rank() == 0 ? b.builtin("unsqueeze", {x, b.integers({0})}, tensor_info(DType::String, Dims{1}))
                                  : b.reshape(x, {size}));
    moved = moved.with_input(i, b.reshape(places, x.dims()));
    count = count + size;
  }
  const Typed all = parts.size() == 1 ? parts[0]
                                      : b.builtin("concat_sequence", {b.tuple(parts), b.prim(0), b.prim(0)},
                                                  tensor_info(DType::String, uint32_t{1}));
  Results results = convert(moved);
  for (auto& result : results)
    result = b.builtin("take_strings", {all, result, b.prim(0)}, tensor_info(DType::String, result.dims()));
  return results;
}

}  // namespace ingot::onnx_import
