#include "runtime/tir/rewrite.h"

namespace ingot::tir {
namespace {

using ingot::substitute;

std::vector<PrimExpr> replaced(const std::vector<PrimExpr>& exprs, const Substitution& substitution) {
  std::vector<PrimExpr> result;
  result.reserve(exprs.size());
  for (const PrimExpr& expr : exprs) result.push_back(substitute(expr, substitution));
  return result;
}

}  // namespace

Expr substitute(const Expr& expr, const Substitution& substitution) {
  ExprNode node = *expr;
  if (node.op == ExprOp::Index) node.index = ingot::substitute(node.index, substitution);
  node.indices = replaced(node.indices, substitution);
  for (Expr& operand : node.operands) operand = substitute(operand, substitution);
  return std::make_shared<const ExprNode>(std::move(node));
}

std::vector<Stmt> substitute(const std::vector<Stmt>& body, const Substitution& substitution) {
  struct Rewriter {
    const Substitution& with;

    StmtNode operator()(const For& node) const {
      return {For{node.var, ingot::substitute(node.extent, with), node.kind, substitute(node.body, with)}};
    }
    StmtNode operator()(const Let& node) const { return {Let{node.var, substitute(node.value, with)}}; }
    StmtNode operator()(const If& node) const {
      return {If{substitute(node.condition, with), substitute(node.then_body, with), substitute(node.else_body, with)}};
    }
    StmtNode operator()(const Store& node) const {
      return {Store{node.buffer, replaced(node.indices, with), substitute(node.value, with)}};
    }
    StmtNode operator()(const Allocate& node) const { return {node}; }
  };
  std::vector<Stmt> result;
  result.reserve(body.size());
  for (const Stmt& stmt : body)
    result.push_back(std::make_shared<const StmtNode>(std::visit(Rewriter{substitution}, stmt->node)));
  return result;
}

PrimFunc substitute(const PrimFunc& func, const Substitution& substitution) {
  PrimFunc result = func;
  for (Buffer& buffer : result.buffers) buffer.dims = replaced(buffer.dims, substitution);
  result.body = substitute(func.body, substitution);
  return result;
}

}  // namespace ingot::tir
