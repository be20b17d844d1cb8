#include <algorithm>

#include "compiler/analysis/inference.h"

namespace ingot::analysis {

using namespace ir;

Expr Inference::call(const Call& e, const StructInfo& expected) {
  if (const auto* op = as<OpExpr>(e.callee)) return call_operator(e, *op->op, expected);
  const Expr& target = meant(e.callee);
  if (const auto* global = as<GlobalVar>(target)) {
    const auto found = globals_.find(global->name);
    if (found != globals_.end() && found->second.polymorphic) return call_global_generic(e, found->second);
  }
  if (const auto* var = as<Var>(target)) {
    const auto found = locals_.find(var);
    if (found != locals_.end()) return call_local_generic(e, *found->second);
  }
  Expr callee = leaf(e.callee);
  std::vector<Expr> args = arguments(e, callee->info);
  if (!e.info_args.empty() && as<ExternFunc>(callee) == nullptr)
    diagnostics_->error(
        ErrorCode::ArityMismatch, place(e.span),
        fmt::format("the function has no type parameters, {} type arguments are given", e.info_args.size()));
  return call_function(e, std::move(callee), std::move(args));
}

// Literals among the arguments take what the parameters ask for.
std::vector<Expr> Inference::arguments(const Call& e, const StructInfo& func) {
  const StructInfo head = holes_.head(func);
  const bool params = head->kind == InfoKind::Func && head->has_params && head->fields.size() == e.args.size();
  std::vector<Expr> args;
  for (size_t i = 0; i < e.args.size(); ++i) args.push_back(leaf(e.args[i], params ? head->fields[i] : nullptr));
  return args;
}

// Matches variables of a parameter that stand alone with what the argument has in their place.
void Inference::unify(const StructInfo& param, const StructInfo& arg, const SymVars& free, Dims& map) {
  if (is_unknown(arg) || is_unknown(param) || param->kind != arg->kind) return;
  const auto bind = [&](const PrimExpr& to, const PrimExpr& from) {
    if (to.op() == PrimOp::Var && free.contains(to.var().get())) map.emplace(to.var().get(), from);
  };
  if (param->dims && arg->dims && param->dims->size() == arg->dims->size())
    for (size_t i = 0; i < param->dims->size(); ++i) bind((*param->dims)[i], (*arg->dims)[i]);
  if (param->value && arg->value) bind(*param->value, *arg->value);
  for (size_t i = 0; i < std::min(param->fields.size(), arg->fields.size()); ++i)
    unify(param->fields[i], arg->fields[i], free, map);
}

namespace {

bool dtypes_differ(const StructInfo& given, const StructInfo& expected) {
  return given->dtype != DType::None && expected->dtype != DType::None && given->dtype != expected->dtype;
}

// Is it ranks, dimensions or numbers, and not kinds or dtypes, that make them incompatible?
bool shapes_differ(const StructInfo& given, const StructInfo& expected) {
  if (given->kind != expected->kind || dtypes_differ(given, expected)) return false;
  if (given->kind != InfoKind::Tuple) return given->kind != InfoKind::Func;
  if (given->fields.size() != expected->fields.size()) return false;
  for (size_t i = 0; i < given->fields.size(); ++i)
    if (is_compatible(given->fields[i], expected->fields[i]) == Compatibility::Incompatible)
      return shapes_differ(given->fields[i], expected->fields[i]);
  return false;
}

}  // namespace

// Reports what is certainly wrong, and warns of what must be checked at run time. False where it is wrong.
bool Inference::expect(const StructInfo& given, const StructInfo& expected, const Span& span, const std::string& what) {
  switch (is_compatible(given, expected)) {
    case Compatibility::Compatible:
      return true;
    case Compatibility::Possibly:
      diagnostics_->warning(
          ErrorCode::TypeError, span,
          fmt::format("{} is {}; that it is {} is checked at run time", what, to_text(given), to_text(expected)),
          "a match_cast says so");
      return true;
    case Compatibility::Incompatible:
      break;
  }
  const bool cast =
      given->kind == InfoKind::Tensor && expected->kind == InfoKind::Tensor && dtypes_differ(given, expected);
  diagnostics_->error(shapes_differ(given, expected) ? ErrorCode::ShapeMismatch : ErrorCode::TypeError, span,
                      fmt::format("{} is {}, expected {}", what, to_text(given), to_text(expected)),
                      cast ? fmt::format("cast it: cast(..., dtype={})", dtype_name(expected->dtype)) : "");
  return false;
}

void Inference::require_pure(bool pure, const Span& span, const std::string& what) {
  if (pure) return;
  if (context_.dataflow)
    diagnostics_->error(ErrorCode::WellFormedness, span,
                        fmt::format("{} is impure and may not be called inside a dataflow block", what),
                        "move the call behind the block", 7);
  else if (context_.must_be_pure)
    diagnostics_->error(ErrorCode::TypeError, span,
                        fmt::format("{} is impure, the function that calls it is pure", what),
                        "mark the function 'impure', or give it attrs {force_pure=True}");
}

// An open literal, or what is made of such alone: it takes the dtype that others tell.
bool Inference::is_number(const Expr& e) const {
  return literal_of(e) != nullptr || (as<Var>(e) != nullptr && open_temps_.contains(as<Var>(e)));
}

// Unifies, and reports what no types can mend.
void Inference::relate(const StructInfo& given, const StructInfo& expected, const Span& span, const std::string& what,
                       const std::string& whole) {
  switch (holes_.unify(given, expected)) {
    case Holes::Result::Fits:
      return;
    case Holes::Result::Cycle:
      diagnostics_->error(ErrorCode::TypeError, span,
                          fmt::format("the type of {} would contain itself", whole.empty() ? what : whole),
                          "a value cannot be passed to itself; functions recur by their names");
      return;
    case Holes::Result::Clash:
      diagnostics_->error(
          ErrorCode::TypeError, span,
          fmt::format("{} is {}, expected {}", what, to_text(holes_.filled(holes_.resolve(given), nullptr)),
                      to_text(holes_.filled(holes_.resolve(expected), nullptr))));
      return;
  }
}

// What is known of what depends on these: nothing, because some are wrong, or because some are not known yet.
StructInfo Inference::doubt(const std::vector<Expr>& exprs) const {
  const auto is_wrong = [](const Expr& e) { return e != nullptr && mentions_wrong(e->info); };
  return std::ranges::any_of(exprs, is_wrong) ? wrong() : pending();
}

// What is called must be a function that takes these arguments.
Expr Inference::call_hole(const Call& e, Expr callee, std::vector<Expr> args, const std::string& name) {
  std::vector<StructInfo> params;
  StructInfo result = fresh();
  for (size_t i = 0; i < args.size(); ++i) {
    params.push_back(args[i]->info);
    if (mentions_unknown(params.back())) result = doubt(args);
    if (!is_number(e.args[i])) continue;
    params.back() = fresh();
    literal_uses_.emplace_back(args[i]->info, params.back());
  }
  if (result == wrong()) holes_.spoil(callee->info);
  if (!is_unknown(result)) relate(callee->info, func_info(std::move(params), result, true), place(e.span), name);
  return typed(std::make_shared<Call>(std::move(callee), std::move(args), e.attrs, std::vector<StructInfo>{}, e.span),
               std::move(result));
}

// A function of the module whose result is open although its parameters are not: each call gets an instance.
void Inference::generalise(const std::string& name, const StructInfo& func) {
  const Global& global = globals_.find(name)->second;
  if (global.definition.function == nullptr || !global.original.empty() || global.state != Global::State::Done) return;
  if (is_open_result(func, {})) again_ = generalised_globals_.insert(name).second || again_;
}

// What the program calls the function.
std::string Inference::shown_name(const std::string& global) const {
  const auto found = globals_.find(global);
  const auto& function = found == globals_.end() ? nullptr : found->second.definition.function;
  const auto attr = function == nullptr ? Attrs::const_iterator{} : function->attrs.find(kStandsFor);
  const auto* name =
      function == nullptr || attr == function->attrs.end() ? nullptr : std::get_if<std::string>(&attr->second);
  return name == nullptr ? global : *name;
}

Expr Inference::call_function(const Call& e, Expr callee, std::vector<Expr> args) {
  const StructInfo func = holes_.resolve(callee->info);
  const Span& span = place(e.span);
  const auto* global = as<GlobalVar>(callee);
  const auto* var = as<Var>(callee);
  const auto* packed = as<ExternFunc>(callee);
  const std::string name = global != nullptr                      ? "@" + shown_name(global->name)
                           : packed != nullptr                    ? fmt::format("extern(\"{}\")", packed->name)
                           : var != nullptr && !var->name.empty() ? "%" + var->name
                                                                  : "the function";
  const auto finish = [&](StructInfo result) {
    return typed(std::make_shared<Call>(std::move(callee), std::move(args), e.attrs, std::vector<StructInfo>{}, e.span),
                 std::move(result));
  };
  if (is_unknown(func)) return finish(func);
  if (holes_.is_hole(func)) return call_hole(e, std::move(callee), std::move(args), name);
  if (func->kind == InfoKind::Object) {
    require_pure(false, span, name);
    for (const Expr& arg : args) holes_.expose(arg->info);
    return finish(object_info());
  }
  if (func->kind != InfoKind::Func) {
    diagnostics_->error(ErrorCode::TypeError, span, fmt::format("{} is {} and cannot be called", name, to_text(func)));
    return finish(wrong());
  }
  require_pure(func->pure, span, name);
  if (!func->has_params) {
    for (const Expr& arg : args) holes_.expose(arg->info);
    return finish(in_scope(func->result, scope_.mark()));
  }
  if (func->fields.size() != args.size()) {
    diagnostics_->error(ErrorCode::ArityMismatch, span,
                        fmt::format("{} takes {} arguments, {} are given", name, func->fields.size(), args.size()));
    return finish(wrong());
  }
  if (var != nullptr && is_unknown(func->result)) asked_.insert(var);
  SymVars free;
  if (const auto known = var != nullptr ? generic_.find(var) : generic_.end(); known != generic_.end()) {
    free = known->second;
  } else {
    for (const auto& param : func->fields)
      for_each_binding_var(param, [&](const SymVar& sym) {
        if (global != nullptr || !scope_.contains(sym.get())) free.insert(sym.get());
      });
  }
  Dims map;
  for (size_t i = 0; i < args.size(); ++i) unify(func->fields[i], args[i]->info, free, map);
  const auto translate = [&](const StructInfo& info) {
    // What was not matched says nothing at this call.
    const StructInfo matched =
        erase_vars(info, [&](const SymVar& sym) { return map.contains(sym.get()) || !free.contains(sym.get()); });
    return ingot::substitute(matched, [&](const SymVar& sym) -> std::optional<PrimExpr> {
      const auto found = map.find(sym.get());
      return found == map.end() ? std::nullopt : std::optional(found->second);
    });
  };
  for (size_t i = 0; i < args.size(); ++i) {
    const StructInfo given = holes_.resolve(args[i]->info);
    const StructInfo param = holes_.resolve(func->fields[i]);
    const auto what = [&] { return fmt::format("argument {} of {}", i, name); };
    if (is_known(given) && is_known(param)) {
      const StructInfo wanted = translate(param);
      if (expect(given, wanted, span, what())) args[i] = coerced(args[i], wanted);
    } else if (is_number(e.args[i])) {
      literal_uses_.emplace_back(given, param);
    } else {
      relate(given, param, span, what(), name);
    }
  }
  const StructInfo result = holes_.resolve(func->result);
  if (is_known(result)) return finish(in_scope(translate(result), scope_.mark()));
  if (global != nullptr) generalise(global->name, func);
  return finish(result);
}

}  // namespace ingot::analysis
