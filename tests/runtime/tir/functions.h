#pragma once
#include <cmath>

#include "runtime/tir/builder.h"

// PrimFuncs that several tests use.
namespace ingot::tir {

inline Expr f32(double value) { return constant(DType::Float32, value); }

// out[n, m] = max(in, 0)
inline PrimFunc relu_func() {
  const PrimExpr n = make_sym_var("n"), m = make_sym_var("m");
  FuncBuilder f("relu");
  const BufferId x = f.input("x", DType::Float32, {n, m});
  const BufferId y = f.output("y", DType::Float32, {n, m});
  f.compute(y, [&](const Indices& i) { return binary(ExprOp::Max, f.load(x, i), f32(0)); });
  return f.finish();
}

// Row-wise softmax in three passes over temporaries.
inline PrimFunc softmax_func() {
  const PrimExpr n = make_sym_var("n"), m = make_sym_var("m");
  FuncBuilder f("softmax");
  const BufferId x = f.input("x", DType::Float32, {n, m});
  const BufferId y = f.output("y", DType::Float32, {n, m});
  const BufferId greatest = f.temporary("greatest", DType::Float32, {n});
  const BufferId sum = f.temporary("sum", DType::Float32, {n});
  const auto exponential = [&](const PrimExpr& i, const PrimExpr& k) {
    return unary(ExprOp::Exp, binary(ExprOp::Sub, f.load(x, {i, k}), f.load(greatest, {i})));
  };
  f.reduce(greatest, ExprOp::Max, f32(-INFINITY), {m}, [&](const Indices& i, const Indices& k) {
    return f.load(x, {i[0], k[0]});
  });
  f.reduce(sum, ExprOp::Add, f32(0), {m}, [&](const Indices& i, const Indices& k) { return exponential(i[0], k[0]); });
  f.compute(y, [&](const Indices& i) { return binary(ExprOp::Div, exponential(i[0], i[1]), f.load(sum, {i[0]})); });
  return f.finish();
}

// y[i] = x[index[i]], the index from memory; row 0 where the flag is off.
inline PrimFunc gather_func() {
  const PrimExpr n = make_sym_var("n"), m = make_sym_var("m");
  FuncBuilder f("gather");
  const BufferId x = f.input("x", DType::Float32, {m});
  const BufferId index = f.input("index", DType::Int64, {n});
  const BufferId flag = f.input("flag", DType::Bool, {n});
  const BufferId y = f.output("y", DType::Float32, {n});
  const SymVar i = make_sym_var("i");
  const LetRef at = make_let("at", DType::Int64);
  f.append(loop(
      i, n, LoopKind::Parallel,
      {let(at, f.load(index, {i})),
       branch(f.load(flag, {i}), {store(y, {i}, f.load(x, {PrimExpr(at->index)}))}, {store(y, {i}, f.load(x, {0}))})}));
  return f.finish();
}

}  // namespace ingot::tir
