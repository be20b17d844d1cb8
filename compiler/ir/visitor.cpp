#include "compiler/ir/visitor.h"

namespace ingot::ir {
namespace {

using Map = std::function<Expr(const Expr&)>;

// The changed list; nullopt where none of it changes.
std::optional<std::vector<Expr>> map_list(const std::vector<Expr>& list, const Map& map) {
  std::optional<std::vector<Expr>> changed;
  for (size_t i = 0; i < list.size(); ++i) {
    Expr mapped = map(list[i]);
    if (!changed && mapped != list[i]) changed = list;
    if (changed) (*changed)[i] = std::move(mapped);
  }
  return changed;
}

std::optional<std::vector<BindingBlock>> map_blocks(const std::vector<BindingBlock>& blocks, const Map& map) {
  std::optional<std::vector<BindingBlock>> changed;
  for (size_t b = 0; b < blocks.size(); ++b)
    for (size_t i = 0; i < blocks[b].bindings.size(); ++i) {
      const Expr& value = blocks[b].bindings[i].value;
      Expr mapped = map(value);
      if (!changed && mapped != value) changed = blocks;
      if (changed) (*changed)[b].bindings[i].value = std::move(mapped);
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
      auto fields = map_list(as<Tuple>(expr)->fields, map);
      if (!fields) return expr;
      return finish(std::make_shared<Tuple>(*std::move(fields), expr->span));
    }
    case ExprKind::Seq: {
      const auto& seq = *as<Seq>(expr);
      auto blocks = map_blocks(seq.blocks, map);
      Expr body = map(seq.body);
      if (!blocks && body == seq.body) return expr;
      if (!blocks) blocks = seq.blocks;
      auto node = std::make_shared<Seq>(*std::move(blocks), std::move(body), expr->span);
      node->result_span = seq.result_span;
      return finish(std::move(node));
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
      auto args = map_list(call.args, map);
      if (!args && callee == call.callee) return expr;
      if (!args) args = call.args;
      auto node = std::make_shared<Call>(std::move(callee), *std::move(args), call.attrs, call.info_args, expr->span);
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
