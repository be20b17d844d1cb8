#pragma once
#include <array>

#include "compiler/ops/op_func.h"

// Windows that move over the last two dimensions: convolution and pooling.
namespace ingot::ops {

struct Window {
  std::array<int64_t, 2> size{}, strides{}, dilation{};
  std::array<int64_t, 4> padding{};  // top, left, bottom, right

  // How many elements it spans along spatial dimension `d`, and how many there are with the padding.
  int64_t reach(size_t d) const { return dilation[d] * (size[d] - 1) + 1; }
  PrimExpr padded(size_t d, const PrimExpr& extent) const { return extent + padding[d] + padding[d + 2]; }
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

// The call fails with ShapeMismatch where a window that spans `reach` elements is longer than the `padded` elements
// along dimension `d`, both in variables of the function, unless it is proved that it is not.
void require_reach(OpFunc& f, size_t d, const PrimExpr& reach, const PrimExpr& padded);

}  // namespace ingot::ops
