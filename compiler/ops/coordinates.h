#pragma once
#include "compiler/ops/operands.h"
#include "runtime/tir/builder.h"

namespace ingot::ops {

// How a tensor of indices lists coordinates for gather_nd and scatter_nd: in its last dimension (attribute axis=-1, as
// in Relax and ONNX) or in its first one (axis=0, as in Relay).
struct Coordinates {
  bool first;
  Dims places;     // the other dimensions
  PrimExpr depth;  // how many coordinates each place has
};
// ShapeMismatch where the indices are a scalar, IndexOutOfRange where the axis is neither.
Coordinates coordinates_of(const ir::CallSite& call, const Operand& indices);
// Where the indices hold coordinate `k` of a place.
tir::Indices index_of(bool first, tir::Indices place, size_t k);

}  // namespace ingot::ops
