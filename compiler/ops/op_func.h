#pragma once
#include <span>
#include <vector>

#include "compiler/ops/element.h"
#include "compiler/ops/operands.h"
#include "runtime/tir/builder.h"

namespace ingot::ops {

// How a PrimFunc speaks of the sizes of a call. The sizes of its buffers must follow from the buffers alone: a variable
// is bound by a dimension where it stands alone, in an input or else in an output; a dimension whose variables are not
// all bound is a variable of the function itself. What else the function needs to know becomes a scalar parameter.
class Sizes {
 public:
  // `extra`: expressions that the body uses besides dimensions.
  Sizes(std::span<const StructInfo> inputs, std::span<const StructInfo> outputs, std::span<const PrimExpr> extra);

  // An expression of the caller in variables of the function.
  PrimExpr local(const PrimExpr& expr) const;
  // The caller's variables that are scalar parameters, in order, and what they are in the function once it is known.
  std::span<const SymVar> scalars() const { return scalars_; }
  void bind_scalar(size_t i, SymVar local);

 private:
  void bind(const StructInfo& info);
  void name(const StructInfo& info);
  bool bound(const PrimExpr& expr) const;

  std::vector<SymVar> bound_;
  std::vector<std::pair<PrimExpr, PrimExpr>> renamed_;
  std::vector<SymVar> scalars_;
};

// The scalar parameters of a call whose meaning is a PrimFunc, as values of the caller.
std::vector<SymVar> scalar_vars(const ir::CallSite& call, std::span<const StructInfo> outputs);

// The PrimFunc of an operator's call under construction: a buffer for each tensor argument (operands()) and each
// result, and scalar parameters where the body needs more than their sizes.
class OpFunc {
 public:
  // Results as the operator infers them.
  explicit OpFunc(const ir::CallSite& call);
  // Results as given; their dimensions are what the buffers declare, so a dimension that is -1 for arguments that do
  // not fit makes the call fail with ShapeMismatch when it is prepared.
  OpFunc(const ir::CallSite& call, std::vector<StructInfo> outputs);

  tir::FuncBuilder& builder() { return builder_; }
  tir::BufferId in(size_t i = 0) const { return inputs_.at(i); }
  tir::BufferId out(size_t i = 0) const { return outputs_.at(i); }
  const Dims& dims(tir::BufferId buffer) const { return builder_.buffer(buffer).dims; }
  DType dtype(tir::BufferId buffer) const { return builder_.buffer(buffer).dtype; }
  Element load(tir::BufferId buffer, tir::Indices indices) const { return {builder_.load(buffer, std::move(indices))}; }
  // Input `i` with its dimensions in variables of this function.
  Operand operand(size_t i) const { return {"", tensor_info(dtype(in(i)), dims(in(i)))}; }
  // An expression over the caller's variables in those of this function.
  PrimExpr local(const PrimExpr& expr) const { return sizes_.local(expr); }

  // The call fails with ShapeMismatch where `fits`, a condition on this function's variables, does not hold: a
  // temporary of size -1 that carries `name`, which the message shows.
  void require(std::string name, const PrimExpr& fits);
  // The same where dimension `d` of input `i` is not `size`, unless that is proved.
  void require_size(size_t i, size_t d, const PrimExpr& size);

  void compute(tir::BufferId buffer, const std::function<Element(const tir::Indices&)>& element);
  void reduce(tir::BufferId buffer, tir::ExprOp op, const Element& init, Dims extents,
              const std::function<Element(const tir::Indices& i, const tir::Indices& k)>& element);

  // Loops around the statements that `body` gives for each index; the outermost is parallel.
  void nest(const Dims& extents, const std::function<std::vector<tir::Stmt>(const tir::Indices&)>& body);

  ir::Meaning finish();

 private:
  tir::FuncBuilder builder_;
  std::vector<tir::BufferId> inputs_, outputs_;
  Sizes sizes_;
};

// A loop with an index of its own.
tir::Stmt loop(const PrimExpr& extent, tir::LoopKind kind,
               const std::function<std::vector<tir::Stmt>(const PrimExpr& index)>& body);

// The results of a call: the fields of a tuple, or the one tensor.
std::vector<StructInfo> results_of(const StructInfo& info);
// The dtype in which sums of `dtype` are built: float32 for narrower floats.
DType accumulator(DType dtype);

}  // namespace ingot::ops
