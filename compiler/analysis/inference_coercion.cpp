#include <algorithm>

#include "compiler/analysis/inference.h"
#include "compiler/ir/visitor.h"
#include "runtime/symbolic/usable.h"

namespace ingot::analysis {

using namespace ir;

// The value where `expected` is asked for. What it is itself may be checked there; what functions give, only calls
// tell: those of which it is not certain stand behind functions that check it.
Expr Inference::coerced(const Expr& value, const StructInfo& expected) {
  const StructInfo given = value->info;
  if (!is_known(given) || is_passable_as(given, expected) != Compatibility::Possibly) return value;
  if (given->kind == InfoKind::Func && expected->kind == InfoKind::Func && given->has_params && expected->has_params)
    return coerced_function(value, expected);
  if (given->kind != InfoKind::Tuple || expected->kind != InfoKind::Tuple) return value;
  std::vector<Expr> fields;
  std::vector<StructInfo> infos;
  bool changed = false;
  const auto* tuple = as<Tuple>(value);
  Expr whole = tuple == nullptr && as<Var>(value) == nullptr ? bind_value(value) : value;
  for (uint32_t i = 0; i < given->fields.size(); ++i) {
    Expr field = tuple != nullptr
                     ? tuple->fields[i]
                     : bind_value(typed(std::make_shared<TupleGetItem>(whole, i, value->span), given->fields[i]));
    const Expr made = coerced(field, expected->fields[i]);
    changed |= made != field;
    fields.push_back(made);
    infos.push_back(made->info);
  }
  if (!changed) return whole;
  return typed(std::make_shared<Tuple>(std::move(fields), value->span), tuple_info(std::move(infos)));
}

// fn(%a: A) -> B { %f(%a) }, whose result is checked as that of every function is. Its shape variables are its own.
Expr Inference::coerced_function(const Expr& function, const StructInfo& expected) {
  Dims own;
  const Substitution rename = [&](const SymVar& var) -> std::optional<PrimExpr> {
    const auto found = own.find(var.get());
    return found == own.end() ? std::nullopt : std::optional(found->second);
  };
  SymVars bound;
  for (const StructInfo& param : expected->fields)
    for_each_binding_var(param, [&](const SymVar& var) { bound.insert(var.get()); });
  for_each_var(expected, [&](const SymVar& var) {
    if (!scope_.contains(var.get())) own.emplace(var.get(), PrimExpr(make_sym_var(var->name)));
  });
  std::vector<VarRef> params;
  std::vector<Expr> args;
  for (const StructInfo& param : expected->fields) {
    params.push_back(std::make_shared<const Var>("", ingot::substitute(param, rename), false, function->span));
    args.push_back(params.back());
  }
  const StructInfo known = erase_vars(
      expected->result, [&](const SymVar& var) { return bound.contains(var.get()) || scope_.contains(var.get()); });
  const Expr callee =
      as<Var>(function) != nullptr || as<GlobalVar>(function) != nullptr ? function : bind_value(function);
  const auto result = std::make_shared<const Var>("", nullptr, false, function->span);
  auto call = std::make_shared<Call>(callee, std::move(args), Attrs{}, std::vector<StructInfo>{}, function->span);
  std::vector<BindingBlock> blocks{{false, {{result, std::move(call), nullptr, function->span}}}};
  const Function checked(std::move(params), std::make_shared<Seq>(std::move(blocks), result, function->span),
                         ingot::substitute(known, rename), function->info->pure, {}, function->span);
  // Whoever has asked for it has said already what is checked at run time.
  const size_t messages = diagnostics_->all().size();
  FunctionRef made = this->function(checked, nullptr);
  if (!found_errors(messages)) diagnostics_->truncate(messages);
  return bind_value(made);
}

// let %own = fn(%a) { let %f: A = %own; ... }, so that a function which calls itself by a variable that is annotated
// more narrowly can stand behind one that checks what it gives.
Function Inference::reentrant(const Function& f, const VarRef& own, const VarRef& var) {
  const auto inner = std::make_shared<const Var>(var->name, var->annotation, false, var->span);
  const std::function<Expr(const Expr&)> renamed = [&](const Expr& e) -> Expr {
    return e == Expr(var) ? Expr(inner) : e->depth == 1 ? e : map_children(e, renamed);
  };
  const Expr body = renamed(f.body);
  const Seq& seq = *as<Seq>(body);
  std::vector<BindingBlock> blocks = seq.blocks;
  if (blocks.empty() || blocks.front().dataflow) blocks.insert(blocks.begin(), BindingBlock{false, {}});
  auto& bindings = blocks.front().bindings;
  bindings.insert(bindings.begin(), Binding{inner, own, nullptr, var->span});
  auto made = std::make_shared<Seq>(std::move(blocks), seq.body, seq.span);
  made->result_span = seq.result_span;
  Function result(f.params, std::move(made), f.result, f.pure, f.attrs, f.span);
  result.where = f.where;
  return result;
}

}  // namespace ingot::analysis
