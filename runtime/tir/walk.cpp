#include "runtime/tir/walk.h"

namespace ingot::tir {
namespace {

void visit_expr(const Expr& expr, const std::function<void(const ExprNode&)>& visit) {
  visit(*expr);
  for (const Expr& operand : expr->operands) visit_expr(operand, visit);
}

std::vector<PrimExpr> rewrite_indices(const std::vector<PrimExpr>& indices, const Rewrite& how) {
  if (!how.index) return indices;
  std::vector<PrimExpr> result;
  result.reserve(indices.size());
  for (const PrimExpr& index : indices) result.push_back(how.index(index));
  return result;
}

struct StmtRewriter {
  const Rewrite& how;

  BufferId buffer(BufferId id) const { return how.buffer ? how.buffer(id) : id; }

  StmtNode operator()(const For& node) const {
    return {For{how.loop_var ? how.loop_var(node.var) : node.var, how.index ? how.index(node.extent) : node.extent,
                node.kind, rewrite(node.body, how)}};
  }
  StmtNode operator()(const Let& node) const {
    return {Let{how.let ? how.let(node.var) : node.var, rewrite(node.value, how)}};
  }
  StmtNode operator()(const If& node) const {
    return {If{rewrite(node.condition, how), rewrite(node.then_body, how), rewrite(node.else_body, how)}};
  }
  StmtNode operator()(const Store& node) const {
    return {Store{buffer(node.buffer), rewrite_indices(node.indices, how), rewrite(node.value, how)}};
  }
  StmtNode operator()(const Allocate& node) const { return {Allocate{buffer(node.buffer)}}; }
};

}  // namespace

void for_each_stmt(std::span<const Stmt> body, const std::function<void(const StmtNode&)>& visit) {
  for (const Stmt& stmt : body) {
    visit(*stmt);
    if (const auto* loop = std::get_if<For>(&stmt->node)) for_each_stmt(loop->body, visit);
    if (const auto* branch = std::get_if<If>(&stmt->node)) {
      for_each_stmt(branch->then_body, visit);
      for_each_stmt(branch->else_body, visit);
    }
  }
}

void for_each_expr(const StmtNode& stmt, const std::function<void(const ExprNode&)>& visit) {
  if (const auto* let = std::get_if<Let>(&stmt.node)) visit_expr(let->value, visit);
  if (const auto* branch = std::get_if<If>(&stmt.node)) visit_expr(branch->condition, visit);
  if (const auto* store = std::get_if<Store>(&stmt.node)) visit_expr(store->value, visit);
}

void for_each_access(std::span<const Stmt> body, const AccessVisitor& visit) {
  for_each_stmt(body, [&](const StmtNode& stmt) {
    for_each_expr(stmt, [&](const ExprNode& expr) {
      if (expr.op == ExprOp::Load) visit(expr.buffer, expr.indices, false);
    });
    if (const auto* store = std::get_if<Store>(&stmt.node)) visit(store->buffer, store->indices, true);
  });
}

void for_each_index(std::span<const Stmt> body, const std::function<void(const PrimExpr&)>& visit) {
  for_each_stmt(body, [&](const StmtNode& stmt) {
    if (const auto* loop = std::get_if<For>(&stmt.node)) visit(loop->extent);
    if (const auto* store = std::get_if<Store>(&stmt.node))
      for (const PrimExpr& index : store->indices) visit(index);
    for_each_expr(stmt, [&](const ExprNode& expr) {
      if (expr.op == ExprOp::Index) visit(expr.index);
      for (const PrimExpr& index : expr.indices) visit(index);
    });
  });
}

Expr rewrite(const Expr& expr, const Rewrite& how) {
  ExprNode node = *expr;
  for (Expr& operand : node.operands) operand = rewrite(operand, how);
  if (how.expr)
    if (Expr made = how.expr(node)) return made;
  if (node.op == ExprOp::Index && how.index) node.index = how.index(node.index);
  if (node.op == ExprOp::Load && how.buffer) node.buffer = how.buffer(node.buffer);
  if (node.op == ExprOp::Let && how.let) node.let = how.let(node.let);
  node.indices = rewrite_indices(node.indices, how);
  return std::make_shared<const ExprNode>(std::move(node));
}

std::vector<Stmt> rewrite(std::span<const Stmt> body, const Rewrite& how) {
  std::vector<Stmt> result;
  result.reserve(body.size());
  for (const Stmt& stmt : body)
    result.push_back(std::make_shared<const StmtNode>(std::visit(StmtRewriter{how}, stmt->node)));
  return result;
}

}  // namespace ingot::tir
