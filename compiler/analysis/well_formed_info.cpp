#include "compiler/analysis/well_formed_info.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/prim_value.h"

namespace ingot::analysis {

void InfoChecker::rule(int number, const ir::Span& span, std::string message, std::string hint) {
  diagnostics_.error(ErrorCode::WellFormedness, span, std::move(message), std::move(hint), number);
}

void InfoChecker::leave(size_t mark) {
  while (log_.size() > mark) {
    visible_.erase(log_.back());
    log_.pop_back();
  }
}

void InfoChecker::bind(const SymVar& var) {
  if (visible_.insert(var.get()).second) log_.push_back(var.get());
}

void InfoChecker::bind_new(const StructInfo& cast) {
  for_each_binding_var(cast, [this](const SymVar& var) { bind(var); });
}

void InfoChecker::check_dim(const PrimExpr& dim, const ir::Span& span, std::string_view where) {
  for_each_var(dim, [&](const SymVar& var) {
    if (visible_.contains(var.get())) return;
    rule(5, span, fmt::format("the shape variable {} is not bound where {} uses it", var->name, where),
         "a match_cast or a parameter's annotation binds a variable that stands alone in a dimension");
    bind(var);
  });
}

void InfoChecker::check_vars(const PrimExpr& expr, const ir::Span& span, AnnotationOf of, int rule_of_kind) {
  for_each_var(expr, [&](const SymVar& var) {
    if (visible_.contains(var.get())) return;
    bind(var);
    switch (of) {
      case AnnotationOf::Parameter:
        return rule(6, span,
                    fmt::format("the shape variable {} stands alone in no dimension of a parameter", var->name),
                    "add a parameter that binds it, or state the dimension otherwise");
      case AnnotationOf::Result:
        return rule(
            4, span,
            fmt::format("the result annotation uses the shape variable {}, which no parameter binds", var->name));
      case AnnotationOf::Value:
        return rule(rule_of_kind, span,
                    fmt::format("the shape variable {} of an annotation is not in scope", var->name),
                    "only match_cast binds new shape variables: let %x = match_cast(..., ...)");
      case AnnotationOf::Cast:
        return rule(
            5, span,
            fmt::format("the shape variable {} is not bound, and {} does not bind it", var->name, to_text(expr)),
            "a dimension binds a variable only where it stands alone, for what stands behind it");
    }
  });
}

// A dimension or a value: in a match_cast it binds a new variable for what stands behind it.
void InfoChecker::check_member(const PrimExpr& expr, const ir::Span& span, AnnotationOf of, int rule_of_kind) {
  if (of == AnnotationOf::Cast && !in_function_ && expr.op() == PrimOp::Var) bind(expr.var());
  check_vars(expr, span, of, rule_of_kind);
}

void InfoChecker::check(const StructInfo& info, const ir::Span& span, AnnotationOf of) {
  switch (info->kind) {
    case InfoKind::Object:
      break;
    case InfoKind::Tensor:
    case InfoKind::Shape: {
      const bool tensor = info->kind == InfoKind::Tensor;
      if (info->dims && info->rank != info->dims->size())
        rule(10, span, fmt::format("ndim is {}, {} dimensions are listed", info->rank.value_or(0), info->dims->size()));
      if (info->dims)
        for (const PrimExpr& dim : *info->dims) check_member(dim, span, of, tensor ? 14 : 15);
      if (info->shape_var && !info->shape_var->name.empty() && !visible_.contains(info->shape_var.get()))
        rule(14, span, fmt::format("%{}, which gives the shape, is not in scope", info->shape_var->name));
      break;
    }
    case InfoKind::Prim:
      if (info->dtype == DType::None || info->dtype == DType::String)
        rule(19, span, fmt::format("Prim[{}]: the dtype must be an integer, a float or bool", dtype_name(info->dtype)));
      if (info->value) {
        const bool condition = ir::is_condition(*info->value);
        if (info->dtype != DType::Int64 && !(condition && info->dtype == DType::Bool))
          rule(22, span,
               fmt::format("the value {} of a Prim is {}, its dtype {}", to_text(*info->value),
                           condition ? "bool" : "int64", dtype_name(info->dtype)));
        check_member(*info->value, span, of, 16);
      }
      break;
    case InfoKind::Tuple:
      for (const StructInfo& field : info->fields) check(field, span, of);
      break;
    case InfoKind::Func:
      check_func(*info, span, of);
      break;
  }
}

// The variables of its parameters belong to the function type, unless they are known outside.
void InfoChecker::check_func(const StructInfoNode& info, const ir::Span& span, AnnotationOf of) {
  if (info.result == nullptr || (!info.has_params && !info.fields.empty())) {
    rule(17, span, "a function type must state its parameters and result, or how its result is derived");
    return;
  }
  const size_t mark = enter();
  const bool outer = std::exchange(in_function_, true);
  for (const StructInfo& param : info.fields) bind_new(param);
  for (const StructInfo& param : info.fields) check(param, span, of);
  check(info.result, span, of == AnnotationOf::Parameter ? AnnotationOf::Result : of);
  in_function_ = outer;
  leave(mark);
}

}  // namespace ingot::analysis
