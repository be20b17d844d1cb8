#pragma once
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// Expressions. Each checks dtypes of its operands (Internal: the builder is used by the compiler, which knows them).
Expr constant(DType dtype, double value);
Expr constant_int(DType dtype, int64_t value);
Expr index_value(PrimExpr index);
Expr let_value(LetRef var);
Expr load(const PrimFunc& func, BufferId buffer, std::vector<PrimExpr> indices);
Expr cast(DType dtype, Expr value);  // `value` itself where it has that dtype
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr unary(ExprOp op, Expr a);
Expr binary(ExprOp op, Expr a, Expr b);

// Statements.
Stmt loop(SymVar var, PrimExpr extent, LoopKind kind, std::vector<Stmt> body);
Stmt let(LetRef var, Expr value);
Stmt branch(Expr condition, std::vector<Stmt> then_body, std::vector<Stmt> else_body = {});
Stmt store(BufferId buffer, std::vector<PrimExpr> indices, Expr value);
// For buffers that FuncBuilder::reserve has given an id; alive in the statements that follow in the list.
Stmt allocate(BufferId buffer);
// With an `index` where the dtype is int64.
LetRef make_let(std::string name, DType dtype);

using Indices = std::vector<PrimExpr>;

// Writes the usual shapes of operators without loops by hand:
//
//   FuncBuilder f("relu");
//   auto x = f.input("x", DType::Float32, dims);
//   auto y = f.output("y", DType::Float32, dims);
//   f.compute(y, [&](const Indices& i) { return binary(ExprOp::Max, f.load(x, i), constant(DType::Float32, 0)); });
//   PrimFunc relu = f.finish();
class FuncBuilder {
 public:
  explicit FuncBuilder(std::string name);

  // All inputs before all outputs.
  BufferId input(std::string name, DType dtype, std::vector<PrimExpr> dims);
  BufferId output(std::string name, DType dtype, std::vector<PrimExpr> dims);
  LetRef scalar(std::string name, DType dtype);
  // A buffer whose Allocate statement the caller places.
  BufferId reserve(std::string name, DType dtype, std::vector<PrimExpr> dims);
  // A temporary buffer, alive from here to the end of the function. After all inputs and outputs.
  BufferId temporary(std::string name, DType dtype, std::vector<PrimExpr> dims);

  Expr load(BufferId buffer, Indices indices) const;
  const Buffer& buffer(BufferId id) const;

  // buffer[i...] = element(i...) for every index; the outermost loop is parallel.
  void compute(BufferId buffer, const std::function<Expr(const Indices&)>& element);
  // buffer[i...] = the combination of element(i..., k...) over all k in `extents`, starting with `init`.
  // `op` is Add, Mul, Min, Max, And or Or. Sums and products in f16 and bf16 accumulate in f32: elements and `init` may
  // have either dtype then.
  void reduce(BufferId buffer, ExprOp op, Expr init, std::vector<PrimExpr> extents,
              const std::function<Expr(const Indices& i, const Indices& k)>& element);
  // Anything else.
  void append(Stmt statement);

  // Checks the function (see checker.h) and gives it away.
  PrimFunc finish();

 private:
  PrimFunc func_;
};

}  // namespace ingot::tir
