#include "runtime/tir/builder.h"

#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/expr_ops.h"

namespace ingot::tir {
namespace {

Expr make(ExprNode node) { return std::make_shared<const ExprNode>(std::move(node)); }

template <typename T>
uint64_t element_bits(T value) {
  uint64_t bits = 0;
  store_element(&bits, value);
  return bits;
}

void require(bool holds, std::string_view what, DType a, DType b) {
  if (!holds) fail(ErrorCode::Internal, "{}: dtypes {} and {} do not fit", what, dtype_name(a), dtype_name(b));
}

Expr operation(ExprOp op, std::vector<Expr> operands) {
  const DType dtype = operands[0]->dtype;
  require(expr_op_info(op).arity == operands.size() && accepts_dtype(op, dtype) && operands.back()->dtype == dtype,
          expr_op_info(op).name, dtype, operands.back()->dtype);
  return make({.op = op, .dtype = result_dtype(op, dtype), .operands = std::move(operands)});
}

Stmt statement(decltype(StmtNode::node) node) { return std::make_shared<const StmtNode>(StmtNode{std::move(node)}); }

// Fresh indices with loops over all of `extents`; `body` is inside of them.
std::vector<Stmt> nest(const std::vector<SymVar>& vars, const std::vector<PrimExpr>& extents, LoopKind outermost,
                       LoopKind inner, std::vector<Stmt> body) {
  for (size_t i = extents.size(); i-- > 0;)
    body = {loop(vars[i], extents[i], i == 0 ? outermost : inner, std::move(body))};
  return body;
}

std::vector<SymVar> fresh_vars(std::string_view prefix, size_t count) {
  std::vector<SymVar> vars;
  for (size_t i = 0; i < count; ++i) vars.push_back(make_sym_var(fmt::format("{}{}", prefix, i)));
  return vars;
}

Indices as_indices(const std::vector<SymVar>& vars) { return {vars.begin(), vars.end()}; }

}  // namespace

Expr constant(DType dtype, double value) {
  const uint64_t bits = with_element(dtype, [&]<typename T>() { return element_bits(convert<T>(value)); });
  return make({.op = ExprOp::Const, .dtype = dtype, .bits = bits});
}

Expr constant_int(DType dtype, int64_t value) {
  const uint64_t bits = with_element(dtype, [&]<typename T>() { return element_bits(convert<T>(value)); });
  return make({.op = ExprOp::Const, .dtype = dtype, .bits = bits});
}

Expr index_value(PrimExpr index) {
  return make({.op = ExprOp::Index, .dtype = DType::Int64, .index = std::move(index)});
}

Expr let_value(LetRef var) { return make({.op = ExprOp::Let, .dtype = var->dtype, .let = std::move(var)}); }

Expr load(const PrimFunc& func, BufferId buffer, std::vector<PrimExpr> indices) {
  if (buffer >= func.buffers.size() || func.buffers[buffer].dims.size() != indices.size())
    fail(ErrorCode::Internal, "{}: a load with {} indices does not fit buffer {}", func.name, indices.size(), buffer);
  return make(
      {.op = ExprOp::Load, .dtype = func.buffers[buffer].dtype, .buffer = buffer, .indices = std::move(indices)});
}

Expr cast(DType dtype, Expr value) {
  if (value->dtype == dtype) return value;
  return make({.op = ExprOp::Cast, .dtype = dtype, .operands = {std::move(value)}});
}

Expr select(Expr condition, Expr if_true, Expr if_false) {
  require(condition->dtype == DType::Bool, "the condition of select", condition->dtype, DType::Bool);
  require(if_true->dtype == if_false->dtype, "select", if_true->dtype, if_false->dtype);
  const DType dtype = if_true->dtype;
  return make({.op = ExprOp::Select,
               .dtype = dtype,
               .operands = {std::move(condition), std::move(if_true), std::move(if_false)}});
}

Expr unary(ExprOp op, Expr a) { return operation(op, {std::move(a)}); }

Expr binary(ExprOp op, Expr a, Expr b) { return operation(op, {std::move(a), std::move(b)}); }

Stmt loop(SymVar var, PrimExpr extent, LoopKind kind, std::vector<Stmt> body) {
  return statement(For{std::move(var), std::move(extent), kind, std::move(body)});
}

Stmt let(LetRef var, Expr value) {
  require(var->dtype == value->dtype, "let", var->dtype, value->dtype);
  return statement(Let{std::move(var), std::move(value)});
}

Stmt branch(Expr condition, std::vector<Stmt> then_body, std::vector<Stmt> else_body) {
  require(condition->dtype == DType::Bool, "the condition of if", condition->dtype, DType::Bool);
  return statement(If{std::move(condition), std::move(then_body), std::move(else_body)});
}

Stmt store(BufferId buffer, std::vector<PrimExpr> indices, Expr value) {
  return statement(Store{buffer, std::move(indices), std::move(value)});
}

LetRef make_let(std::string name, DType dtype) {
  SymVar index = dtype == DType::Int64 ? make_sym_var(name) : nullptr;
  return std::make_shared<const LetVar>(LetVar{std::move(name), dtype, std::move(index)});
}

FuncBuilder::FuncBuilder(std::string name) {
  func_.name = std::move(name);
  func_.outputs = 0;
}

BufferId FuncBuilder::input(std::string name, DType dtype, std::vector<PrimExpr> dims) {
  if (func_.outputs != 0) fail(ErrorCode::Internal, "{}: input {} comes after an output", func_.name, name);
  const BufferId id = output(std::move(name), dtype, std::move(dims));
  func_.outputs = 0;
  return id;
}

BufferId FuncBuilder::output(std::string name, DType dtype, std::vector<PrimExpr> dims) {
  if (func_.buffers.size() != func_.params)
    fail(ErrorCode::Internal, "{}: parameter {} comes after a temporary buffer", func_.name, name);
  func_.buffers.push_back({std::move(name), dtype, std::move(dims)});
  ++func_.outputs;
  return func_.params++;
}

LetRef FuncBuilder::scalar(std::string name, DType dtype) {
  func_.scalars.push_back({make_let(std::move(name), dtype)});
  return func_.scalars.back().var;
}

BufferId FuncBuilder::temporary(std::string name, DType dtype, std::vector<PrimExpr> dims) {
  const BufferId id = reserve(std::move(name), dtype, std::move(dims));
  append(allocate(id));
  return id;
}

BufferId FuncBuilder::reserve(std::string name, DType dtype, std::vector<PrimExpr> dims) {
  func_.buffers.push_back({std::move(name), dtype, std::move(dims)});
  return static_cast<BufferId>(func_.buffers.size() - 1);
}

Stmt allocate(BufferId buffer) { return statement(Allocate{buffer}); }

Expr FuncBuilder::load(BufferId buffer, Indices indices) const { return tir::load(func_, buffer, std::move(indices)); }

const Buffer& FuncBuilder::buffer(BufferId id) const { return func_.buffers[id]; }

void FuncBuilder::compute(BufferId buffer, const std::function<Expr(const Indices&)>& element) {
  const std::vector<PrimExpr> dims = func_.buffers[buffer].dims;
  const std::vector<SymVar> vars = fresh_vars("i", dims.size());
  const Indices indices = as_indices(vars);
  std::vector<Stmt> body = {store(buffer, indices, element(indices))};
  for (Stmt& stmt : nest(vars, dims, LoopKind::Parallel, LoopKind::Serial, std::move(body))) append(std::move(stmt));
}

void FuncBuilder::reduce(BufferId buffer, ExprOp op, Expr init, std::vector<PrimExpr> extents,
                         const std::function<Expr(const Indices&, const Indices&)>& element) {
  const Buffer target = func_.buffers[buffer];
  const std::vector<SymVar> outer = fresh_vars("i", target.dims.size());
  const std::vector<SymVar> inner = fresh_vars("k", extents.size());
  const Indices i = as_indices(outer);
  Expr value = element(i, as_indices(inner));

  const bool half = target.dtype == DType::Float16 || target.dtype == DType::BFloat16;
  const bool accumulates = half && (op == ExprOp::Add || op == ExprOp::Mul);
  std::vector<Stmt> body;
  BufferId sum = buffer;
  Indices at = i;
  if (accumulates) {
    sum = reserve("sum", DType::Float32, {});
    at = {};
    body.push_back(allocate(sum));
    value = cast(DType::Float32, std::move(value));
    init = cast(DType::Float32, std::move(init));
  }
  body.push_back(store(sum, at, std::move(init)));
  std::vector<Stmt> step = {store(sum, at, binary(op, load(sum, at), std::move(value)))};
  for (Stmt& stmt : nest(inner, extents, LoopKind::Reduce, LoopKind::Reduce, std::move(step)))
    body.push_back(std::move(stmt));
  if (accumulates) body.push_back(store(buffer, i, cast(target.dtype, load(sum, {}))));
  for (Stmt& stmt : nest(outer, target.dims, LoopKind::Parallel, LoopKind::Serial, std::move(body)))
    append(std::move(stmt));
}

void FuncBuilder::append(Stmt statement) { func_.body.push_back(std::move(statement)); }

PrimFunc FuncBuilder::finish() {
  check(func_);
  return std::move(func_);
}

}  // namespace ingot::tir
