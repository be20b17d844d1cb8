#include "compiler/ir/visitor.h"

namespace ingot::ir {
namespace {

using Map = std::function<Expr(const Expr&)>;

bool map_list(std::vector<Expr>& list, const Map& map) {
  bool changed = false;
  for (Expr& e : list) {
    Expr mapped = map(e);
    changed |= mapped != e;
    e = std::move(mapped);
  }
  return changed;
}

}  // namespace

void for_each_child(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  switch (expr->kind) {
    case ExprKind::Tuple:
      for (const Expr& field : as<Tuple>(expr)->fields) visit(field);
      return;
    case ExprKind::Seq: {
      const auto& seq = *as<Seq>(expr);
      for (const BindingBlock& block : seq.blocks)
        for (const Binding& binding : block.bindings) visit(binding.value);
      visit(seq.body);
      return;
    }
    case ExprKind::Function:
      visit(as<Function>(expr)->body);
      return;
    case ExprKind::If: {
      const auto& branch = *as<If>(expr);
      visit(branch.condition);
      visit(branch.then_branch);
      visit(branch.else_branch);
      return;
    }
    case ExprKind::Call: {
      const auto& call = *as<Call>(expr);
      visit(call.callee);
      for (const Expr& arg : call.args) visit(arg);
      return;
    }
    case ExprKind::TupleGetItem:
      visit(as<TupleGetItem>(expr)->tuple);
      return;
    default:
      return;
  }
}

Expr map_children(const Expr& expr, const Map& map) {
  const auto finish = [&](auto node) -> Expr {
    node->info = expr->info;
    return node;
  };
  switch (expr->kind) {
    case ExprKind::Tuple: {
      std::vector<Expr> fields = as<Tuple>(expr)->fields;
      if (!map_list(fields, map)) return expr;
      return finish(std::make_shared<Tuple>(std::move(fields), expr->span));
    }
    case ExprKind::Seq: {
      const auto& seq = *as<Seq>(expr);
      std::vector<BindingBlock> blocks = seq.blocks;
      bool changed = false;
      for (BindingBlock& block : blocks)
        for (Binding& binding : block.bindings) {
          Expr value = map(binding.value);
          changed |= value != binding.value;
          binding.value = std::move(value);
        }
      Expr body = map(seq.body);
      if (!changed && body == seq.body) return expr;
      return finish(std::make_shared<Seq>(std::move(blocks), std::move(body), expr->span));
    }
    case ExprKind::Function: {
      const auto& f = *as<Function>(expr);
      Expr body = map(f.body);
      if (body == f.body) return expr;
      auto node = std::make_shared<Function>(f.params, std::move(body), f.result, f.pure, f.attrs, f.span);
      node->type_params = f.type_params;
      node->where = f.where;
      return finish(std::move(node));
    }
    case ExprKind::If: {
      const auto& branch = *as<If>(expr);
      Expr condition = map(branch.condition);
      Expr then_branch = map(branch.then_branch);
      Expr else_branch = map(branch.else_branch);
      if (condition == branch.condition && then_branch == branch.then_branch && else_branch == branch.else_branch)
        return expr;
      return finish(std::make_shared<If>(std::move(condition), std::move(then_branch), std::move(else_branch),
                                         expr->span, branch.sugar));
    }
    case ExprKind::Call: {
      const auto& call = *as<Call>(expr);
      Expr callee = map(call.callee);
      std::vector<Expr> args = call.args;
      if (!map_list(args, map) && callee == call.callee) return expr;
      auto node = std::make_shared<Call>(std::move(callee), std::move(args), call.attrs, call.info_args, expr->span);
      node->kernel = call.kernel;
      return finish(std::move(node));
    }
    case ExprKind::TupleGetItem: {
      const auto& item = *as<TupleGetItem>(expr);
      Expr tuple = map(item.tuple);
      if (tuple == item.tuple) return expr;
      return finish(std::make_shared<TupleGetItem>(std::move(tuple), item.index, expr->span));
    }
    default:
      return expr;
  }
}

}  // namespace ingot::ir
