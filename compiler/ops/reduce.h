#pragma once
#include "compiler/ops/op_func.h"

// Which axes a reduction runs along, and how indices of its operand are put together.
namespace ingot::ops {

struct Reduction {
  std::vector<bool> along;  // per dimension of the operand
  bool keepdims = false;

  // Dimensions of the result, and those that are reduced.
  Dims kept(std::span<const PrimExpr> dims) const;
  Dims reduced(std::span<const PrimExpr> dims) const;
  // Index of the operand from one of the result and one of the reduced dimensions.
  tir::Indices join(const tir::Indices& i, const tir::Indices& k) const;
  // Index of the result from one of the operand.
  tir::Indices project(const tir::Indices& index) const;
};

// From attributes axis, exclude and keepdims.
Reduction reduction(const ir::CallSite& call, size_t rank);

// Along the one axis of attribute axis.
Reduction along_axis(const ir::CallSite& call, size_t rank);

// The number of elements that are reduced to one, as an element.
Element reduced_count(const OpFunc& f, const Reduction& how, DType dtype);

}  // namespace ingot::ops
