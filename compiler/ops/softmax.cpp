#include "compiler/ops/functions.h"
#include "compiler/ops/reduce.h"

namespace ingot::ops {

using namespace ir;
using tir::ExprOp;
using tir::Indices;

StructInfo infer_softmax(const CallSite& call) {
  const auto x = operand(call, 0);
  require_float(call, x);
  call.axis("axis", x.rank());
  return x.info;
}

// Of "softmax" and "log_softmax"; the greatest element is taken off first, so that nothing overflows.
Meaning define_softmax(const CallSite& call) {
  OpFunc f(call);
  const Dims dims = f.dims(f.in());
  const Reduction along = along_axis(call, dims.size());
  const DType dtype = f.dtype(f.in());
  const DType wide = accumulator(dtype);
  const auto greatest = f.builder().temporary("greatest", dtype, along.kept(dims));
  const auto total = f.builder().temporary("total", wide, along.kept(dims));

  f.reduce(greatest, ExprOp::Max, lowest(dtype), along.reduced(dims),
           [&](const Indices& i, const Indices& k) { return f.load(f.in(), along.join(i, k)); });
  const auto shifted = [&](const Indices& index) {
    return cast(wide, f.load(f.in(), index)) - cast(wide, f.load(greatest, along.project(index)));
  };
  const bool logarithm = call.op().name == "log_softmax";
  if (logarithm) {
    f.reduce(total, ExprOp::Add, element(wide, 0.0), along.reduced(dims),
             [&](const Indices& i, const Indices& k) { return apply(ExprOp::Exp, shifted(along.join(i, k))); });
    f.compute(f.out(), [&](const Indices& i) {
      return cast(dtype, shifted(i) - apply(ExprOp::Log, f.load(total, along.project(i))));
    });
    return f.finish();
  }
  const auto powers = f.builder().temporary("powers", wide, dims);
  f.compute(powers, [&](const Indices& i) { return apply(ExprOp::Exp, shifted(i)); });
  f.reduce(total, ExprOp::Add, element(wide, 0.0), along.reduced(dims),
           [&](const Indices& i, const Indices& k) { return f.load(powers, along.join(i, k)); });
  // One division for each sum: the elements are multiplied.
  const auto scale = f.builder().temporary("scale", wide, along.kept(dims));
  f.compute(scale, [&](const Indices& i) { return element(wide, 1.0) / f.load(total, i); });
  f.compute(f.out(),
            [&](const Indices& i) { return cast(dtype, f.load(powers, i) * f.load(scale, along.project(i))); });
  return f.finish();
}

}  // namespace ingot::ops
