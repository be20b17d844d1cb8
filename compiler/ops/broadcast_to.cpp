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
  const auto is = [](const PrimExpr& a, const PrimExpr& b) { return PrimExpr::make(PrimOp::Equal, {a, b}); };
  const Dims given = f.dims(f.in());
  const Dims wanted = f.dims(f.out());
  for (size_t d = 0; d < given.size(); ++d) {
    const PrimExpr& to = wanted[wanted.size() - given.size() + d];
    if (given[d].is_const(1) || prove_equal(given[d], to) == Proof::Yes) continue;
    f.require(fmt::format("dimension_{}", d), PrimExpr::make(PrimOp::Or, {is(given[d], to), is(given[d], 1)}));
  }
  f.compute(f.out(), [&](const tir::Indices& i) { return f.load(f.in(), broadcast_index(given, i, wanted)); });
  return f.finish();
}

}  // namespace ingot::ops
