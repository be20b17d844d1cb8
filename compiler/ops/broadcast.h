#pragma once
#include "compiler/ops/operands.h"

// NumPy's broadcasting with symbolic dimensions.
namespace ingot::ops {

struct Broadcast {
  // What the result has if the operands fit.
  Dims dims;
  // The same, but -1 in a dimension where operands do not fit; equal to `dims` where they provably do.
  Dims checked;
  bool proved = true;  // they fit whatever the variables are
};

// Aligns the shapes at their last dimensions. ShapeMismatch where two certainly do not fit.
Broadcast broadcast(const ir::CallSite& call, std::span<const Operand> operands);

// Where an operand of dimensions `dims` is read for element `index` of the broadcast result.
std::vector<PrimExpr> broadcast_index(std::span<const PrimExpr> dims, std::span<const PrimExpr> index,
                                      std::span<const PrimExpr> result);

}  // namespace ingot::ops
