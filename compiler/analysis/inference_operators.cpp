#include <algorithm>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/inference.h"
#include "compiler/analysis/literals.h"
#include "compiler/ops/ops.h"

namespace ingot::analysis {

using namespace ir;

namespace {

// Operators that pass their arguments on and need no dimensions of them.
bool passes_on(std::string_view op) {
  return op.starts_with("call_") || op == "make_closure" || op == "view" || op == "null_value";
}

// Operators whose second argument is a tuple of tensors; one tensor stands for a tuple of it.
bool takes_tuple(std::string_view op) { return op == "call_tir" || op == "call_dps_packed"; }

// A dimension nested deeper is a variable to the operators to come: what they build of it stays within kMaxExprDepth.
constexpr uint32_t kDeepDim = 64;

bool is_prim(const Expr& e) { return e != nullptr && e->info->kind == InfoKind::Prim && e->info->dtype != DType::None; }

Expr call_builtin(std::string_view name, const Expr& arg, StructInfo result) {
  auto call =
      std::make_shared<Call>(std::make_shared<OpExpr>(ops::find("call_builtin"), arg->span), std::vector<Expr>{arg},
                             Attrs{{"name", std::string(name)}}, std::vector<StructInfo>{result}, arg->span);
  call->info = std::move(result);
  return call;
}

}  // namespace

// Dtypes that literals among the operands may take, the likeliest first: those of the other operands, then what the
// context of the call asks for.
std::vector<DType> Inference::contexts(const std::vector<Expr>& args, const Call& e, const StructInfo& expected) const {
  std::vector<DType> result;
  const auto add = [&](const StructInfo& info) {
    if (info->kind == InfoKind::Tensor && info->dtype != DType::None && info->dtype != DType::Bool &&
        std::ranges::find(result, info->dtype) == result.end())
      result.push_back(info->dtype);
  };
  bool decimals = false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] != nullptr) {
      add(args[i]->info);
      continue;
    }
    decimals = decimals || *open_class(e.args[i]);
  }
  if (result.empty() && expected != nullptr && !is_unknown(expected)) add(expected);
  if (result.empty() && decimals) result.push_back(DType::Float32);
  result.push_back(DType::None);
  return result;
}

// The argument with its dimensions named by a match_cast, where only its rank is known or they are long expressions.
Expr Inference::with_dims(const Expr& arg) {
  if (const auto* tuple = as<Tuple>(arg)) {
    std::vector<Expr> fields;
    std::vector<StructInfo> infos;
    for (const Expr& field : tuple->fields) {
      fields.push_back(with_dims(field));
      infos.push_back(fields.back()->info);
    }
    if (fields == tuple->fields) return arg;
    return typed(std::make_shared<Tuple>(std::move(fields), arg->span), tuple_info(std::move(infos)));
  }
  const auto* var = as<Var>(arg);
  const StructInfoNode& info = *arg->info;
  const bool shaped = info.kind == InfoKind::Tensor || info.kind == InfoKind::Shape;
  const auto is_deep = [](const PrimExpr& dim) { return dim.depth() > kDeepDim; };
  if (var == nullptr || !shaped || !info.rank || *info.rank > kMaxRank) return arg;
  if (info.dims && std::ranges::none_of(*info.dims, is_deep)) return arg;
  if (const auto* known = named_.find(var)) return *known;
  std::vector<PrimExpr> dims;
  for (uint32_t i = 0; i < *info.rank; ++i)
    dims.emplace_back(!info.dims || is_deep((*info.dims)[i]) ? PrimExpr(make_sym_var("d")) : (*info.dims)[i]);
  const StructInfo cast =
      info.kind == InfoKind::Tensor ? tensor_info(info.dtype, std::move(dims)) : shape_info(std::move(dims));
  const VarRef named = bind_cast(arg, cast, var->name);
  named_.set(var, named);
  return named;
}

Expr Inference::call_operator(const Call& e, const Op& op, const StructInfo& expected) {
  const Span& span = place(e.span);
  const std::vector<StructInfo> info_args = resolved(e.info_args);
  std::vector<Expr> args;
  bool known = true;
  bool holes = false;
  bool literals = false;
  // Relax's binary operators take prims for rank-0 tensors, of prims alone they give one; its one_hot takes two.
  const bool of_prims = e.args.size() == 2 && ops::is_elementwise(op);
  const auto takes_prim = [&](size_t i) { return of_prims || (op.name == "one_hot" && i != 0); };
  size_t prims = 0;
  for (const Expr& arg : e.args) {
    if (is_open(arg)) {
      args.push_back(nullptr);
      literals = true;
      continue;
    }
    Expr inferred = written(leaf(arg));
    known = known && !mentions_unknown(inferred->info);
    if (holes_.mentions_hole(inferred->info)) {
      // A function that is an operand is out of sight; of a type variable the operator is asked once it is solved.
      if (!holes_.is_hole(inferred->info) || is_foreign_call(op.name)) holes_.expose(inferred->info);
      holes = holes || (!is_foreign_call(op.name) && inferred->info->kind != InfoKind::Func);
    } else if (known && !passes_on(op.name))
      inferred = with_dims(inferred);
    if (takes_prim(args.size()) && is_prim(inferred)) {
      if (of_prims) ++prims;
      const DType dtype = inferred->info->dtype;
      const auto* var = as<Var>(inferred);
      inferred = bind_value(call_builtin("prim_to_tensor", inferred, tensor_info(dtype, std::vector<PrimExpr>{})),
                            var == nullptr ? "" : var->name);
    }
    if (args.size() == 1 && takes_tuple(op.name) && inferred->info->kind == InfoKind::Tensor)
      inferred = typed(std::make_shared<Tuple>(std::vector<Expr>{inferred}, arg->span), tuple_info({inferred->info}));
    args.push_back(std::move(inferred));
  }
  StructInfo result = !known ? doubt(args) : holes ? fresh() : wrong();
  known = known && !holes;
  std::vector<Expr> chosen = args;
  std::optional<Error> error;
  const std::vector<DType> dtypes = literals ? contexts(args, e, expected) : std::vector<DType>{DType::None};
  // Does the operator take literals of that dtype in the place of argument `at`?
  const auto infers = [&](size_t at, DType dtype) {
    if (!known) return true;
    std::vector<Expr> attempt = args;
    std::vector<StructInfo> infos;
    for (size_t i = 0; i < attempt.size(); ++i) {
      if (attempt[i] == nullptr) {
        const Constant* literal = i == at ? nullptr : literal_of(e.args[i]);
        const bool other = literal != nullptr && !can_adapt(*literal, dtype);
        attempt[i] = typed(std::make_shared<Tuple>(std::vector<Expr>{}, span),
                           tensor_info(other ? default_dtype(*literal) : dtype, std::vector<PrimExpr>{}));
      }
      infos.push_back(attempt[i]->info);
    }
    try {
      op.infer(CallSite(op, attempt, infos, e.attrs, info_args));
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] != nullptr || literal_of(e.args[i]) != nullptr) continue;
    if (OpenTemp* temp = open_temp(e.args[i])) {
      const auto fits = std::ranges::find_if(
          dtypes, [&](DType d) { return (is_float(d) || !temp->decimal) && (d == DType::None || infers(i, d)); });
      settle(*temp, fits == dtypes.end() || *fits == DType::None ? nullptr : tensor_info(*fits));
    }
    chosen[i] = args[i] = leaf(e.args[i]);
    known = known && !mentions_unknown(args[i]->info);
  }
  for (const DType dtype : dtypes) {
    if (!known) break;
    std::vector<Expr> attempt = args;
    try {
      std::vector<StructInfo> infos;
      for (size_t i = 0; i < attempt.size(); ++i) {
        if (attempt[i] == nullptr) {
          const Constant& open = *literal_of(e.args[i]);
          const DType wanted = dtype != DType::None && can_adapt(open, dtype) ? dtype : default_dtype(open);
          attempt[i] = adapt(open, wanted);
          if (attempt[i] == nullptr)
            fail(ErrorCode::TypeError, "{}: the literal for argument {} is out of the range of {}", op.name, i,
                 dtype_name(wanted));
        }
        infos.push_back(attempt[i]->info);
      }
      const CallSite site(op, attempt, infos, e.attrs, info_args);
      result = op.infer(site);
      require_pure(op.effect == nullptr || op.effect(site) != Effect::Effect, span, std::string(op.name));
      chosen = std::move(attempt);
      error.reset();
      break;
    } catch (const Error& failure) {
      if (!error) error = failure;
    }
  }
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] == nullptr) chosen[i] = leaf(e.args[i]);
  if (error) diagnostics_->error(error->code(), span, error->what(), {}, error->rule());
  if (!error && known && op.name == "call_tir") check_call_tir(e, chosen, info_args);
  auto typed_call = std::make_shared<Call>(e.callee, std::move(chosen), e.attrs, info_args, e.span);
  typed_call->kernel = e.kernel;
  const bool to_prim =
      prims != 0 && !error && known && prims + static_cast<size_t>(std::ranges::count(args, nullptr)) == 2;
  const Expr made = typed(std::move(typed_call), std::move(result));
  return to_prim ? call_builtin("tensor_to_prim", bind_value(made), prim_info(made->info->dtype)) : made;
}

namespace {

// Which buffers are inputs: those that are never written.
std::string roles_of(const tir::PrimFunc& func) {
  const auto names = [&](size_t begin, size_t end) {
    std::string text;
    for (size_t i = begin; i < end; ++i) text += (text.empty() ? "" : ", ") + func.buffers[i].name;
    return text.empty() ? std::string("none") : text;
  };
  const size_t inputs = func.params - func.outputs;
  return fmt::format("inputs: {}; outputs, from the first one that is written on: {}", names(0, inputs),
                     names(inputs, func.params));
}

}  // namespace

// call_tir(@f, (inputs...), outputs..., vars): inputs, outputs and scalars against what the prim_func declares.
void Inference::check_call_tir(const Call& e, const std::vector<Expr>& args, const std::vector<StructInfo>& outputs) {
  const Span& span = place(e.span);
  const auto* global = as<GlobalVar>(args[0]);
  const auto found = globals_.find(global->name);
  if (found == globals_.end()) return;
  const auto& prim = found->second.definition.prim_func;
  if (prim == nullptr) {
    diagnostics_->error(ErrorCode::TypeError, span, fmt::format("call_tir: @{} is no prim_func", global->name),
                        "call it directly");
    return;
  }
  const StructInfo& given = args[1]->info;
  const size_t inputs = prim->params - prim->outputs;
  if (given->kind != InfoKind::Tuple) {
    diagnostics_->error(ErrorCode::TypeError, span,
                        fmt::format("call_tir: the inputs are {}, expected a tuple", to_text(given)),
                        "write one input as (%x,)");
    return;
  }
  const size_t scalars = args.size() > 2 && args[2]->info->dims ? args[2]->info->dims->size() : 0;
  const auto count = [&](size_t have, size_t want, const char* what) {
    if (have != want)
      diagnostics_->error(ErrorCode::ArityMismatch, span,
                          fmt::format("call_tir: @{} has {} {}, {} are given", global->name, want, what, have),
                          std::string_view(what) == "scalars" ? "give them as vars=shape(...)" : roles_of(*prim));
    return have == want;
  };
  for (const tir::Scalar& scalar : prim->scalars)
    if (scalar.var->index == nullptr) {
      diagnostics_->error(ErrorCode::Unsupported, span,
                          fmt::format("call_tir: @{} takes {} as a scalar {}, calls pass int64 only", global->name,
                                      scalar.var->name, dtype_name(scalar.var->dtype)),
                          "pass it as a tensor: Buffer[(), " + std::string(dtype_name(scalar.var->dtype)) + "]");
      return;
    }
  if (!count(given->fields.size(), inputs, "inputs") || !count(outputs.size(), prim->outputs, "outputs") ||
      !count(scalars, prim->scalars.size(), "scalars"))
    return;
  std::vector<StructInfo> infos = given->fields;
  infos.insert(infos.end(), outputs.begin(), outputs.end());
  std::vector<StructInfo> params;
  SymVars free;
  for (uint32_t i = 0; i < prim->params; ++i) {
    params.push_back(tensor_info(prim->buffers[i].dtype, prim->buffers[i].dims));
    for_each_var(params.back(), [&](const SymVar& sym) { free.insert(sym.get()); });
  }
  Dims map;
  for (size_t i = 0; i < scalars; ++i)
    if (prim->scalars[i].var->index) map.emplace(prim->scalars[i].var->index.get(), (*args[2]->info->dims)[i]);
  for (size_t i = 0; i < params.size(); ++i) unify(params[i], infos[i], free, map);
  for (size_t i = 0; i < params.size(); ++i) {
    const StructInfo matched =
        ingot::substitute(erase_vars(params[i], [&](const SymVar& sym) { return map.contains(sym.get()); }),
                          [&](const SymVar& sym) { return std::optional(map.find(sym.get())->second); });
    expect(infos[i], matched, span,
           fmt::format("call_tir: {} {} of @{}", i < inputs ? "input" : "output", i < inputs ? i : i - inputs,
                       global->name));
  }
}

}  // namespace ingot::analysis
