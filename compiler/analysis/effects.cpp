#include "compiler/analysis/effects.h"

#include <algorithm>

#include "compiler/ir/visitor.h"
#include "compiler/ops/ops.h"

namespace ingot::analysis {
namespace {

using namespace ir;

// A dimension that is computed may overflow, divide by zero or be negative.
Effect effect_of_dim(const PrimExpr& dim, bool may_be_negative) {
  if (const auto value = dim.as_const()) return may_be_negative || *value >= 0 ? Effect::Total : Effect::MayFail;
  return dim.op() == PrimOp::Var ? Effect::Total : Effect::MayFail;
}

template <typename List, typename Of>
Effect greatest(const List& list, const Of& of) {
  Effect result = Effect::Total;
  for (const auto& item : list) result = std::max(result, of(item));
  return result;
}

Effect effect_of_leaf(const Expr& leaf) {
  switch (leaf->kind) {
    case ExprKind::Tuple:
      return greatest(as<Tuple>(leaf)->fields, effect_of_leaf);
    case ExprKind::Shape:
      return greatest(as<Shape>(leaf)->dims, [](const PrimExpr& dim) { return effect_of_dim(dim, false); });
    case ExprKind::PrimValue: {
      const auto* dim = std::get_if<PrimExpr>(&as<PrimValue>(leaf)->value);
      return dim == nullptr ? Effect::Total : effect_of_dim(*dim, true);
    }
    case ExprKind::ExternFunc:
      // It may not be allowed.
      return Effect::MayFail;
    default:
      return Effect::Total;
  }
}

Effect effect_of_call(const Call& call) {
  const auto* op = as<OpExpr>(call.callee);
  if (op == nullptr) {
    const StructInfo& info = call.callee->info;
    return info != nullptr && info->kind == InfoKind::Func && info->pure ? Effect::MayFail : Effect::Effect;
  }
  std::vector<StructInfo> infos;
  for (const auto& arg : call.args) infos.push_back(arg->info);
  const CallSite site(*op->op, call.args, infos, call.attrs, call.info_args);
  return std::max(ops::effect_of(site), greatest(call.args, effect_of_leaf));
}

Effect effect_of_sequence(const Expr& e) {
  return greatest(as<Seq>(e)->blocks, [](const BindingBlock& block) { return greatest(block.bindings, effect_of); });
}

bool writes(const Expr& e) {
  if (e->depth == 1 && e->kind != ExprKind::ExternFunc) return false;
  if (const auto* callee = as<ExternFunc>(e)) return !callee->writes.empty();
  const auto* call = as<Call>(e);
  const auto* op = call != nullptr ? as<OpExpr>(call->callee) : nullptr;
  if (op != nullptr && op->op->name == "call_pure_packed") return false;
  bool found = false;
  for_each_child(e, [&](const Expr& child) { found = found || writes(child); });
  return found;
}

Effect effect_of_value(const Expr& value) {
  if (const auto* branch = as<If>(value))
    return std::max(effect_of_sequence(branch->then_branch), effect_of_sequence(branch->else_branch));
  if (value->kind == ExprKind::Function) return Effect::Total;
  if (const auto* call = as<Call>(value)) return effect_of_call(*call);
  if (const auto* item = as<TupleGetItem>(value)) {
    const StructInfo& tuple = item->tuple->info;
    const bool known = tuple != nullptr && tuple->kind == InfoKind::Tuple && item->index < tuple->fields.size();
    return std::max(known ? Effect::Total : Effect::MayFail, effect_of_leaf(item->tuple));
  }
  return is_leaf(value) ? effect_of_leaf(value) : Effect::MayFail;
}

}  // namespace

bool is_checked(const Binding& binding) {
  if (binding.cast != nullptr) return true;
  const StructInfo annotation = binding.var != nullptr ? binding.var->annotation : nullptr;
  return annotation != nullptr && is_compatible(binding.value->info, annotation) != Compatibility::Compatible;
}

Effect effect_of(const Binding& binding) {
  return std::max(is_checked(binding) ? Effect::MayFail : Effect::Total, effect_of_value(binding.value));
}

bool writes_tensors(const Module& module) {
  return std::ranges::any_of(module.definitions(), [](const Definition& definition) {
    return definition.function != nullptr && writes(definition.function);
  });
}

}  // namespace ingot::analysis
