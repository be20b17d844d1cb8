#include "compiler/ops/broadcast.h"
#include "compiler/ops/functions.h"
#include "compiler/ops/op_func.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

StructInfo infer_broadcast_to(const CallSite& call) {
  const auto x = operand(call, 0);
  const Dims target = dims_of(call, "shape", 1);
  if (target.size() < x.rank())
    call.fail(ErrorCode::ShapeMismatch, "{} has rank {}, the shape has rank {}", x.name, x.rank(), target.size());
  const size_t skipped = target.size() - x.rank();
  for (size_t d = 0; d < x.rank(); ++d)
    if (prove_equal(x.dims()[d], target[skipped + d]) == Proof::No && prove_equal(x.dims()[d], 1) == Proof::No)
      call.fail(ErrorCode::ShapeMismatch, "dimension {} of {} is {}, which does not broadcast to {}", d, x.name,
                to_text(x.dims()[d]), to_text(target[skipped + d]));
  return tensor_like(x, target);
}

Meaning define_broadcast_to(const CallSite& call) {
  const auto x = operand(call, 0);
  const Dims target = *infer_broadcast_to(call)->dims;
  const size_t skipped = target.size() - x.rank();
  Dims checked = target;
  for (size_t d = 0; d < x.rank(); ++d) {
    const auto& dim = x.dims()[d];
    auto& wanted = checked[skipped + d];
    if (dim.is_const(1) || prove_equal(dim, wanted) == Proof::Yes) continue;
    const PrimExpr same = PrimExpr::make(PrimOp::Equal, {dim, wanted});
    const PrimExpr one = PrimExpr::make(PrimOp::Equal, {dim, PrimExpr(1)});
    wanted = PrimExpr::make(PrimOp::Select, {PrimExpr::make(PrimOp::Or, {same, one}), wanted, PrimExpr(-1)});
  }
  OpFunc f(call, {tensor_like(x, checked)});
  f.compute(f.out(),
            [&](const tir::Indices& i) { return f.load(f.in(), broadcast_index(f.dims(f.in()), i, f.dims(f.out()))); });
  return f.finish();
}

}  // namespace ingot::ops
