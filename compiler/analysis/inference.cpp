#include "compiler/analysis/inference.h"

#include "compiler/analysis/literals.h"
#include "compiler/ir/op.h"
#include "compiler/ops/ops.h"

namespace ingot::analysis {

using namespace ir;

const StructInfo& Inference::unknown() {
  static const StructInfo marker = std::make_shared<StructInfoNode>();
  return marker;
}

Module Inference::run() {
  Module result = *module_;
  for (const auto& definition : module_->definitions()) {
    if (definition.function == nullptr) continue;
    signature(definition.name, definition.span);
    if (const auto found = done_.find(definition.name); found != done_.end()) {
      Definition typed_definition = definition;
      typed_definition.function = found->second;
      result.set(std::move(typed_definition));
    }
    // Inference may have started at a call before the function's own turn; a function without result annotation is
    // complete then.
  }
  for (const auto& definition : module_->definitions()) {
    if (definition.function == nullptr || done_.contains(definition.name)) continue;
    scope_.clear();
    in_progress_.insert(definition.name);
    Definition typed_definition = definition;
    typed_definition.function = function(*definition.function, nullptr);
    in_progress_.erase(definition.name);
    result.set(std::move(typed_definition));
  }
  result.form = std::max(result.form, Form::Typed);
  return result;
}

// What calls of a global function know of it: its annotations or, without a result annotation, what its body gives.
StructInfo Inference::signature(const std::string& name, const Span& use) {
  const Definition* definition = module_->find(name);
  if (definition == nullptr) {
    diagnostics_->error(ErrorCode::TypeError, use, fmt::format("@{} is not defined", name));
    return unknown();
  }
  if (definition->prim_func != nullptr) {
    std::vector<StructInfo> params;
    for (uint32_t i = 0; i < definition->prim_func->params; ++i)
      params.push_back(tensor_info(definition->prim_func->buffers[i].dtype, definition->prim_func->buffers[i].dims));
    for (const auto& scalar : definition->prim_func->scalars) params.push_back(prim_info(scalar.var->dtype));
    return func_info(std::move(params), tuple_info({}), false);
  }
  const Function& f = *definition->function;
  std::vector<StructInfo> params;
  for (const auto& param : f.params) params.push_back(param->annotation != nullptr ? param->annotation : object_info());
  if (f.result != nullptr) return func_info(std::move(params), f.result, f.pure);
  if (const auto found = done_.find(name); found != done_.end()) return found->second->info;
  if (!in_progress_.insert(name).second) return func_info(std::move(params), unknown(), f.pure);

  const SymVars outer = std::exchange(scope_, {});
  FunctionRef inferred = function(f, nullptr);
  // A recursive function: what its other branches give fixes the result, the second walk checks all of it.
  if (!is_unknown(inferred->info->result) && !diagnostics_->has_errors()) {
    done_.emplace(name, inferred);
    scope_.clear();
    inferred = function(f, nullptr);
  } else if (is_unknown(inferred->info->result) && !diagnostics_->has_errors()) {
    diagnostics_->error(ErrorCode::WellFormedness, f.span,
                        fmt::format("the result of recursive @{} cannot be inferred", name),
                        "write it down: `-> ...` behind the parameters", 8);
  }
  scope_ = outer;
  in_progress_.erase(name);
  done_.insert_or_assign(name, inferred);
  return inferred->info;
}

void Inference::see(const StructInfo& info) {
  if (info != nullptr) for_each_var(info, [&](const SymVar& var) { scope_.insert(var.get()); });
}

StructInfo Inference::in_scope(const StructInfo& info, const SymVars& scope) const {
  if (info == nullptr || is_unknown(info)) return info;
  return erase_vars(info, [&](const SymVar& var) { return scope.contains(var.get()); });
}

FunctionRef Inference::function(const Function& f, const Var* self) {
  const SymVars outer = scope_;
  SymVars generic;
  std::vector<StructInfo> params;
  for (const auto& param : f.params) {
    if (param->annotation != nullptr) {
      param->info = param->annotation;
    } else if (param->info == nullptr || param->info->kind == InfoKind::Object) {
      param->info = object_info();
    }
    for_each_binding_var(param->info, [&](const SymVar& var) {
      if (!outer.contains(var.get())) generic.insert(var.get());
    });
    params.push_back(param->info);
  }
  for (const auto& info : params) see(info);
  if (self != nullptr) {
    generic_[self] = generic;
    self->info = func_info(params, f.result != nullptr ? f.result : unknown(), f.pure);
  }
  const SymVars inside = scope_;
  Expr body = sequence(*as<Seq>(f.body), f.result);
  // A local recursive function without result annotation is walked again once its other branches have told the result.
  if (self != nullptr && f.result == nullptr && !is_unknown(body->info)) {
    const StructInfo result = in_scope(body->info, inside);
    self->info = func_info(params, result, f.pure);
    scope_ = inside;
    body = sequence(*as<Seq>(f.body), nullptr);
  }
  if (f.result != nullptr && !is_unknown(body->info))
    expect(body->info, f.result, body->span.line != 0 ? body->span : f.span, "the result", ErrorCode::ShapeMismatch);
  const StructInfo result = f.result != nullptr ? f.result : in_scope(body->info, inside);
  auto inferred = std::make_shared<Function>(f.params, std::move(body), f.result, f.pure, f.attrs, f.span);
  inferred->type_params = f.type_params;
  inferred->where = f.where;
  inferred->info = func_info(std::move(params), result, f.pure);
  scope_ = outer;
  return inferred;
}

// `expected` is what the context asks of the value, for literals; null where it asks nothing.
Expr Inference::sequence(const Seq& seq, const StructInfo& expected) {
  const SymVars outer = scope_;
  std::vector<BindingBlock> blocks;
  for (const auto& block : seq.blocks) {
    BindingBlock inferred{block.dataflow, {}};
    for (const auto& b : block.bindings) {
      // The last value of a sequence stands in the context of the sequence.
      const bool is_result =
          b.var != nullptr && b.var.get() == as<Var>(seq.body) && b.cast == nullptr && b.var->annotation == nullptr;
      if (is_result && as<If>(b.value) != nullptr) {
        Binding result = b;
        result.value = branch(*as<If>(b.value), expected, inferred.bindings);
        b.var->info = result.value->info;
        inferred.bindings.push_back(std::move(result));
      } else {
        binding(b, inferred.bindings);
      }
    }
    if (!inferred.bindings.empty()) blocks.push_back(std::move(inferred));
  }
  Expr body = leaf(seq.body, expected);
  StructInfo info = in_scope(body->info, outer);
  scope_ = outer;
  return typed(std::make_shared<Seq>(std::move(blocks), std::move(body), seq.span), std::move(info));
}

void Inference::binding(const Binding& b, std::vector<Binding>& into) {
  if (b.cast == nullptr && b.var != nullptr && b.var->annotation == nullptr && is_open_literal(b.value)) {
    literals_[b.var.get()] = b.value;
    return;
  }
  Binding result = b;
  result.value = value(b, into);
  const StructInfo& given = result.value->info;
  if (b.cast != nullptr) {
    if (!is_unknown(given) && is_compatible(given, b.cast) == Compatibility::Incompatible)
      diagnostics_->warning(ErrorCode::CastFailed, b.span,
                            fmt::format("match_cast of {} to {} can never succeed", to_text(given), to_text(b.cast)));
    see(b.cast);
    if (b.var != nullptr) b.var->info = b.cast;
  } else if (b.var != nullptr && b.var->annotation != nullptr) {
    if (!is_unknown(given)) expect(given, b.var->annotation, b.span, "%" + b.var->name, ErrorCode::ShapeMismatch);
    b.var->info = b.var->annotation;
  } else if (b.var != nullptr) {
    b.var->info = given;
  }
  into.push_back(std::move(result));
}

Expr Inference::value(const Binding& b, std::vector<Binding>& into) {
  const StructInfo expected = b.var != nullptr && b.cast == nullptr ? b.var->annotation : nullptr;
  switch (b.value->kind) {
    case ExprKind::Function:
      return function(*as<Function>(b.value), b.var.get());
    case ExprKind::If:
      return branch(*as<If>(b.value), expected, into);
    case ExprKind::Call:
      return call(*as<Call>(b.value));
    case ExprKind::TupleGetItem:
      return projection(*as<TupleGetItem>(b.value));
    default:
      return leaf(b.value, expected);
  }
}

Expr Inference::literal(const Constant& constant, DType dtype) {
  if (!can_adapt(constant, dtype)) dtype = default_dtype(constant);
  if (auto adapted = adapt(constant, dtype)) return adapted;
  diagnostics_->error(ErrorCode::TypeError, constant.span,
                      fmt::format("the literal is out of the range of {}", dtype_name(dtype)),
                      "give it a suffix of a wider dtype, such as i64 or f64");
  return typed(std::make_shared<Constant>(constant.data, false, constant.span), unknown());
}

Expr Inference::leaf(const Expr& e, const StructInfo& expected) {
  switch (e->kind) {
    case ExprKind::Constant: {
      const auto& constant = *as<Constant>(e);
      if (constant.adapts)
        return literal(constant,
                       expected != nullptr && expected->kind == InfoKind::Tensor && expected->dtype != DType::None
                           ? expected->dtype
                           : default_dtype(constant));
      std::vector<PrimExpr> dims(constant.data->dims().begin(), constant.data->dims().end());
      return typed(std::make_shared<Constant>(constant.data, false, e->span),
                   tensor_info(constant.data->dtype, std::move(dims)));
    }
    case ExprKind::Var: {
      const auto* var = as<Var>(e);
      if (const auto found = literals_.find(var); found != literals_.end()) return leaf(found->second, expected);
      if (var->info == nullptr) {
        diagnostics_->error(ErrorCode::TypeError, e->span, fmt::format("%{} is not defined", var->name));
        var->info = unknown();
      }
      return e;
    }
    case ExprKind::GlobalVar:
      return typed(std::make_shared<GlobalVar>(*as<GlobalVar>(e)), signature(as<GlobalVar>(e)->name, e->span));
    case ExprKind::Tuple: {
      std::vector<Expr> fields;
      std::vector<StructInfo> infos;
      const auto& given = as<Tuple>(e)->fields;
      for (size_t i = 0; i < given.size(); ++i) {
        const bool known = expected != nullptr && expected->kind == InfoKind::Tuple && i < expected->fields.size();
        fields.push_back(leaf(given[i], known ? expected->fields[i] : nullptr));
        infos.push_back(fields.back()->info);
      }
      return typed(std::make_shared<Tuple>(std::move(fields), e->span), tuple_info(std::move(infos)));
    }
    case ExprKind::Shape:
      return typed(std::make_shared<Shape>(*as<Shape>(e)), shape_info(as<Shape>(e)->dims));
    case ExprKind::PrimValue: {
      const auto& prim = as<PrimValue>(e)->value;
      StructInfo info = std::holds_alternative<PrimExpr>(prim) ? prim_info(DType::Int64, std::get<PrimExpr>(prim))
                        : std::holds_alternative<double>(prim) ? prim_info(DType::Float64)
                                                               : prim_info(DType::Bool);
      return typed(std::make_shared<PrimValue>(*as<PrimValue>(e)), std::move(info));
    }
    case ExprKind::String:
      return typed(std::make_shared<String>(*as<String>(e)), object_info());
    case ExprKind::DataType:
      return typed(std::make_shared<DataType>(*as<DataType>(e)), object_info());
    case ExprKind::NullValue:
      return typed(std::make_shared<NullValue>(e->span), object_info());
    case ExprKind::ExternFunc: {
      const auto& results = as<ExternFunc>(e)->results;
      StructInfo result = results.empty() ? object_info() : results.size() == 1 ? results[0] : tuple_info(results);
      return typed(std::make_shared<ExternFunc>(*as<ExternFunc>(e)), packed_func_info(std::move(result)));
    }
    case ExprKind::Op:
      diagnostics_->error(ErrorCode::WellFormedness, e->span,
                          fmt::format("operator {} is used as a value", as<OpExpr>(e)->op->name),
                          "an operator can only be called; wrap it: fn(%x) { ... }", 9);
      return typed(std::make_shared<OpExpr>(*as<OpExpr>(e)), unknown());
    default:
      fail(ErrorCode::Internal, "inference needs a module in normal form");
  }
}

// `a && b` and `a || b` above rank 0 are elementwise operators; null where both sides have rank 0.
Expr Inference::logical(const If& e, const Expr& left, std::vector<Binding>& into) {
  const auto above = [](const StructInfo& info) {
    return info->kind == InfoKind::Tensor && info->rank && *info->rank > 0;
  };
  const bool conjunction = e.sugar == ShortCircuit::And;
  const Expr other = sequence(*as<Seq>(conjunction ? e.then_branch : e.else_branch), nullptr);
  if (!above(left->info) && !above(other->info)) return nullptr;
  for (const auto& block : as<Seq>(other)->blocks)
    into.insert(into.end(), block.bindings.begin(), block.bindings.end());
  const auto op = std::make_shared<OpExpr>(ops::find(conjunction ? "logical_and" : "logical_or"), e.span);
  const Call call(op, {left, as<Seq>(other)->body}, {}, {}, e.span);
  return call_operator(call, *op);
}

Expr Inference::branch(const If& e, const StructInfo& expected, std::vector<Binding>& into) {
  Expr condition = leaf(e.condition);
  if (e.sugar != ShortCircuit::None)
    if (Expr elementwise = logical(e, condition, into)) return elementwise;
  const StructInfo wanted = tensor_info(DType::Bool, std::vector<PrimExpr>{});
  if (!is_unknown(condition->info)) {
    const Compatibility fits = is_compatible(condition->info, wanted);
    if (fits == Compatibility::Incompatible) {
      diagnostics_->error(
          ErrorCode::TypeError, e.condition->span,
          fmt::format("the condition of an if is {}, expected Tensor[(), bool]", to_text(condition->info)),
          "reduce it to one boolean, for example with all() or any()");
    } else if (fits == Compatibility::Possibly) {
      const auto checked = std::make_shared<Var>("condition", nullptr, false, e.condition->span);
      checked->info = wanted;
      into.push_back({checked, condition, wanted, e.condition->span});
      condition = checked;
    }
  }
  const auto& then_seq = *as<Seq>(e.then_branch);
  const auto& else_seq = *as<Seq>(e.else_branch);
  const auto open = [&](const Seq& seq) {
    const auto* var = as<Var>(seq.body);
    if (is_open_literal(seq.body) || (var != nullptr && literals_.contains(var))) return true;
    if (var == nullptr || seq.blocks.empty() || seq.blocks.back().bindings.empty()) return false;
    const Binding& last = seq.blocks.back().bindings.back();
    return last.var.get() == var && last.var->annotation == nullptr && last.cast == nullptr &&
           is_open_literal(last.value);
  };
  Expr then_branch, else_branch;
  if (expected == nullptr && open(then_seq)) {
    else_branch = sequence(else_seq, nullptr);
    then_branch = sequence(then_seq, else_branch->info);
  } else {
    then_branch = sequence(then_seq, expected);
    else_branch = sequence(else_seq, expected != nullptr ? expected : then_branch->info);
  }
  const StructInfo info = is_unknown(then_branch->info)   ? else_branch->info
                          : is_unknown(else_branch->info) ? then_branch->info
                                                          : least_upper_bound(then_branch->info, else_branch->info);
  return typed(
      std::make_shared<If>(std::move(condition), std::move(then_branch), std::move(else_branch), e.span, e.sugar),
      info);
}

Expr Inference::projection(const TupleGetItem& e) {
  Expr tuple = leaf(e.tuple);
  StructInfo info = unknown();
  const StructInfo given = tuple->info;
  if (is_unknown(given)) return typed(std::make_shared<TupleGetItem>(std::move(tuple), e.index, e.span), unknown());
  if (given->kind != InfoKind::Tuple) {
    diagnostics_->error(ErrorCode::TypeError, e.span,
                        fmt::format("projection .{} of {}, which is no tuple", e.index, to_text(given)),
                        given->kind == InfoKind::Object ? "match_cast it to a tuple first" : "");
  } else if (e.index >= given->fields.size()) {
    diagnostics_->error(ErrorCode::IndexOutOfRange, e.span,
                        fmt::format("projection .{} of a tuple with {} fields", e.index, given->fields.size()));
  } else {
    info = given->fields[e.index];
  }
  return typed(std::make_shared<TupleGetItem>(std::move(tuple), e.index, e.span), std::move(info));
}

}  // namespace ingot::analysis
