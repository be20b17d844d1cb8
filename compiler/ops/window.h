#pragma once
#include <array>

#include "compiler/ops/operands.h"

// Windows that move over the last two dimensions: convolution and pooling.
namespace ingot::ops {

struct Window {
  std::array<int64_t, 2> size{}, strides{}, dilation{};
  std::array<int64_t, 4> padding{};  // top, left, bottom, right
};

// A list attribute of two numbers; one stands for both.
std::array<int64_t, 2> pair_attr(const ir::CallSite& call, std::string_view name, int64_t least);
// Attribute padding: one number for all sides, two for (top and bottom, left and right), or four.
std::array<int64_t, 4> padding_attr(const ir::CallSite& call);
// How many places a window has along dimension `d` (0 rows, 1 columns) of `extent` elements; `round_up` counts one that
// reaches beyond the end, if it begins within the input. ShapeMismatch where the window is larger than the padded
// input.
PrimExpr places(const ir::CallSite& call, const Window& window, size_t d, const PrimExpr& extent, bool round_up);
// Where element `k` of the window's place `o` lies, and whether that is within `extent`.
PrimExpr at(const Window& window, size_t d, const PrimExpr& o, const PrimExpr& k);
PrimExpr within(const PrimExpr& index, const PrimExpr& extent);

}  // namespace ingot::ops
