#pragma once
#include <span>
#include <vector>

#include "compiler/ops/element.h"
#include "compiler/ops/operands.h"
#include "runtime/tir/builder.h"

namespace ingot::ops {

// The symbolic variables of a call that no input's dimension binds alone: scalar parameters of its PrimFunc, in order
// of first occurrence in the inputs, the outputs, then `extra` (expressions that the body uses).
std::vector<SymVar> scalar_vars(std::span<const StructInfo> inputs, std::span<const StructInfo> outputs,
                                std::span<const PrimExpr> extra = {});
// Those of a call whose meaning is a PrimFunc.
std::vector<SymVar> scalar_vars(const ir::CallSite& call, std::span<const StructInfo> outputs);

// The PrimFunc of an operator's call under construction: a buffer for each tensor argument (operands()) and each
// result, scalar parameters for the variables that no input binds.
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
  // An expression over the caller's variables in those of this function.
  PrimExpr local(const PrimExpr& expr) const;

  void compute(tir::BufferId buffer, const std::function<Element(const tir::Indices&)>& element);
  void reduce(tir::BufferId buffer, tir::ExprOp op, const Element& init, Dims extents,
              const std::function<Element(const tir::Indices& i, const tir::Indices& k)>& element);

  // Loops around the statements that `body` gives for each index; the outermost is parallel.
  void nest(const Dims& extents, const std::function<std::vector<tir::Stmt>(const tir::Indices&)>& body);

  ir::Meaning finish();

 private:
  tir::FuncBuilder builder_;
  std::vector<tir::BufferId> inputs_, outputs_;
  std::vector<std::pair<SymVar, SymVar>> scalars_;  // the caller's, the function's
};

// A loop with an index of its own.
tir::Stmt loop(const PrimExpr& extent, tir::LoopKind kind,
               const std::function<std::vector<tir::Stmt>(const PrimExpr& index)>& body);

// The results of a call: the fields of a tuple, or the one tensor.
std::vector<StructInfo> results_of(const StructInfo& info);
// The dtype in which sums of `dtype` are built: float32 for narrower floats.
DType accumulator(DType dtype);

}  // namespace ingot::ops
