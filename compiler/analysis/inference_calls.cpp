#include <algorithm>

#include "compiler/analysis/inference.h"
#include "compiler/analysis/literals.h"
#include "compiler/ir/op.h"

namespace ingot::analysis {

using namespace ir;

Expr Inference::call(const Call& e) {
  if (const auto* op = as<OpExpr>(e.callee)) return call_operator(e, *op);
  Expr callee = leaf(e.callee);
  const StructInfo func = callee->info;
  return call_function(e, callee, func);
}

// Literals among the operands take the dtype of the first operand that is none.
void Inference::adapt_operands(const Call& e, const Op& op, std::vector<Expr>& args) {
  const auto literal_of = [&](const Expr& arg) -> const Constant* {
    if (const auto* var = as<Var>(arg))
      if (const auto found = literals_.find(var); found != literals_.end()) return as<Constant>(found->second);
    return is_open_literal(arg) ? as<Constant>(arg) : nullptr;
  };
  // The condition of where() is no context for the values.
  const size_t first = op.name == "where" ? 1 : 0;
  DType context = DType::None;
  bool decimals = false;
  for (size_t i = 0; i < e.args.size(); ++i) {
    const Constant* literal = literal_of(e.args[i]);
    decimals = decimals || (literal != nullptr && !is_integer(literal->data->dtype));
    args.push_back(literal == nullptr ? leaf(e.args[i]) : nullptr);
    if (literal == nullptr && i >= first && context == DType::None && args[i]->info->kind == InfoKind::Tensor)
      context = args[i]->info->dtype;
  }
  // Literals among themselves: a decimal makes the integers decimals.
  if (context == DType::None && decimals) context = DType::Float32;
  for (size_t i = 0; i < e.args.size(); ++i)
    if (args[i] == nullptr) {
      const Constant& literal_arg = *literal_of(e.args[i]);
      args[i] = literal(literal_arg, context == DType::None ? default_dtype(literal_arg) : context);
    }
}

Expr Inference::call_operator(const Call& e, const OpExpr& op) {
  std::vector<Expr> args;
  adapt_operands(e, *op.op, args);
  std::vector<StructInfo> infos;
  bool known = true;
  const auto all_known = [](const auto& self, const StructInfo& info) -> bool {
    return !is_unknown(info) &&
           (info->kind != InfoKind::Tuple ||
            std::ranges::all_of(info->fields, [&](const StructInfo& field) { return self(self, field); }));
  };
  for (const auto& arg : args) {
    infos.push_back(arg->info);
    known = known && all_known(all_known, arg->info);
  }
  StructInfo result = unknown();
  if (known) {
    try {
      result = op.op->infer(CallSite(*op.op, args, infos, e.attrs, e.info_args));
    } catch (const Error& error) {
      diagnostics_->error(error.code(), e.span, error.what(), {}, error.rule());
    }
  }
  auto typed_call = std::make_shared<Call>(e.callee, std::move(args), e.attrs, e.info_args, e.span);
  typed_call->kernel = e.kernel;
  return typed(std::move(typed_call), std::move(result));
}

// Matches variables of a parameter that stand alone with what the argument has in their place.
void Inference::unify(const StructInfo& param, const StructInfo& arg, const SymVars& free,
                      std::unordered_map<const SymVarNode*, PrimExpr>& map) {
  if (is_unknown(arg) || param->kind != arg->kind) return;
  if (param->kind == InfoKind::Tuple)
    for (size_t i = 0; i < std::min(param->fields.size(), arg->fields.size()); ++i)
      unify(param->fields[i], arg->fields[i], free, map);
  const auto bind = [&](const PrimExpr& to, const PrimExpr& from) {
    if (to.op() == PrimOp::Var && free.contains(to.var().get())) map.emplace(to.var().get(), from);
  };
  if (param->dims && arg->dims && param->dims->size() == arg->dims->size())
    for (size_t i = 0; i < param->dims->size(); ++i) bind((*param->dims)[i], (*arg->dims)[i]);
  if (param->value && arg->value) bind(*param->value, *arg->value);
}

// Reports what is certainly wrong, warns of what must be checked at run time. False where it is wrong.
bool Inference::expect(const StructInfo& given, const StructInfo& expected, const Span& span, const std::string& what,
                       ErrorCode mismatch) {
  const Compatibility fits = is_compatible(given, expected);
  if (fits == Compatibility::Incompatible) {
    const bool same_kind =
        given->kind == expected->kind &&
        (given->dtype == expected->dtype || given->dtype == DType::None || expected->dtype == DType::None) &&
        given->kind != InfoKind::Tuple && given->kind != InfoKind::Func;
    const bool dtypes_differ = given->kind == InfoKind::Tensor && expected->kind == InfoKind::Tensor && !same_kind;
    diagnostics_->error(same_kind ? mismatch : ErrorCode::TypeError, span,
                        fmt::format("{} is {}, expected {}", what, to_text(given), to_text(expected)),
                        dtypes_differ ? fmt::format("cast it: cast(..., dtype={})", dtype_name(expected->dtype)) : "");
    return false;
  }
  return true;
}

Expr Inference::call_function(const Call& e, const Expr& callee, const StructInfo& func) {
  std::vector<Expr> args;
  const bool is_func = !is_unknown(func) && func->kind == InfoKind::Func;
  const auto finish = [&](StructInfo result) {
    return typed(std::make_shared<Call>(callee, std::move(args), e.attrs, e.info_args, e.span), std::move(result));
  };
  if (!is_func || !func->has_params) {
    for (const auto& arg : e.args) args.push_back(leaf(arg));
    if (is_unknown(func)) return finish(unknown());
    if (is_func) return finish(func->result);
    if (func->kind != InfoKind::Object) {
      diagnostics_->error(ErrorCode::TypeError, e.span,
                          fmt::format("{} is called, but it is no function", to_text(func)));
      return finish(unknown());
    }
    return finish(object_info());
  }

  const auto* global = as<GlobalVar>(callee);
  const auto* var = as<Var>(callee);
  const std::string name = global != nullptr ? "@" + global->name : var != nullptr ? "%" + var->name : "the function";
  if (func->fields.size() != e.args.size()) {
    for (const auto& arg : e.args) args.push_back(leaf(arg));
    diagnostics_->error(ErrorCode::ArityMismatch, e.span,
                        fmt::format("{} takes {} arguments, {} are given", name, func->fields.size(), e.args.size()));
    return finish(unknown());
  }
  SymVars free;
  const auto known_generic = var != nullptr ? generic_.find(var) : generic_.end();
  if (known_generic != generic_.end()) {
    free = known_generic->second;
  } else {
    for (const auto& param : func->fields)
      for_each_binding_var(param, [&](const SymVar& sym) {
        if (global != nullptr || !scope_.contains(sym.get())) free.insert(sym.get());
      });
  }
  std::unordered_map<const SymVarNode*, PrimExpr> map;
  for (size_t i = 0; i < e.args.size(); ++i) {
    args.push_back(leaf(e.args[i], func->fields[i]));
    unify(func->fields[i], args[i]->info, free, map);
  }
  const auto substitution = [&](const SymVar& sym) -> std::optional<PrimExpr> {
    const auto found = map.find(sym.get());
    return found == map.end() ? std::nullopt : std::optional(found->second);
  };
  const auto translate = [&](const StructInfo& info) {
    // What was not matched says nothing at this call.
    const StructInfo matched =
        erase_vars(info, [&](const SymVar& sym) { return map.contains(sym.get()) || !free.contains(sym.get()); });
    return ingot::substitute(matched, substitution);
  };
  for (size_t i = 0; i < args.size(); ++i) {
    if (is_unknown(args[i]->info)) continue;
    const Span& span = args[i]->span.line != 0 ? args[i]->span : e.span;
    expect(args[i]->info, translate(func->fields[i]), span, fmt::format("argument {} of {}", i, name),
           ErrorCode::ShapeMismatch);
  }
  if (is_unknown(func->result)) return finish(unknown());
  return finish(in_scope(translate(func->result), scope_));
}

}  // namespace ingot::analysis
