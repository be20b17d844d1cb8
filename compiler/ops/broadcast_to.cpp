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
  OpFunc f(call);
  f.compute(f.out(), [&](const tir::Indices& i) {
    const auto& dims = f.dims(f.in());
    const auto& target = f.dims(f.out());
    tir::Indices at = broadcast_index(dims, i, target);
    // A dimension that is neither 1 nor the wanted one has no element to read.
    for (size_t d = 0; d < dims.size(); ++d) {
      const size_t place = i.size() - dims.size() + d;
      const PrimExpr& wanted = target[place];
      if (dims[d].is_const(1) || prove_equal(dims[d], wanted) == Proof::Yes) continue;
      const auto same = [&](const PrimExpr& to) { return PrimExpr::make(PrimOp::Equal, {dims[d], to}); };
      at[d] = PrimExpr::make(PrimOp::Select,
                             {same(1), 0, PrimExpr::make(PrimOp::Select, {same(wanted), i[place], PrimExpr(-1)})});
    }
    return f.load(f.in(), at);
  });
  return f.finish();
}

}  // namespace ingot::ops
