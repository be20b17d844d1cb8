#include "compiler/analysis/writes.h"

#include <algorithm>

#include "compiler/ir/op.h"
#include "compiler/ir/visitor.h"

namespace ingot::analysis {
namespace {

using namespace ir;

// Does the call only read its arguments, and give tensors of its own?
bool is_operation(const Call& call) {
  const auto* callee = as<OpExpr>(call.callee);
  if (callee == nullptr) return false;
  const std::string_view name = callee->op->name;
  if (name == "call_tir" || name == "call_kernel") return true;
  if (name == "call_packed" || name == "call_pure_packed" || name == "call_builtin" || name == "view" ||
      name == "make_closure" || name == "call_tir_inplace" || name == "call_dps_packed")
    return false;
  std::vector<StructInfo> infos;
  for (const auto& arg : call.args) {
    const bool is_opaque = arg->info->kind == InfoKind::Func || arg->info->kind == InfoKind::Object;
    if (is_opaque && as<NullValue>(arg) == nullptr) return false;
    infos.push_back(arg->info);
  }
  return callee->op->effect(CallSite(*callee->op, call.args, infos, call.attrs, call.info_args)) != Effect::Effect;
}

// A function that is made is not called yet.
bool may_write(const Expr& e) {
  if (e->kind == ExprKind::Function) return false;
  if (const auto* call = as<Call>(e)) return !is_operation(*call);
  bool found = false;
  if (e->depth > 1) for_each_child(e, [&](const Expr& child) { found = found || may_write(child); });
  return found;
}

}  // namespace

Writes::Writes(bool any, const FunctionRef& function) : any_(any) {
  if (!any) return;
  const std::function<void(const Expr&)> share = [&](const Expr& e) {
    if (const auto* var = as<Var>(e)) shared_.insert(var);
    const auto* call = as<Call>(e);
    if (call != nullptr && is_operation(*call)) return;
    if (call != nullptr) writes_nothing_ = false;
    if (const auto* seq = as<Seq>(e))
      for (const auto& block : seq->blocks)
        for (const auto& binding : block.bindings) {
          const auto* made = as<Call>(binding.value);
          if (binding.var != nullptr && binding.cast == nullptr && made != nullptr && is_operation(*made))
            made_.insert(binding.var.get());
        }
    for_each_child(e, share);
  };
  share(function);
}

void Writes::enter(std::span<const BindingBlock> scope) {
  writers_before_.clear();
  if (!any_) return;
  size_t writers = 0;
  for (const auto& block : scope)
    for (const auto& binding : block.bindings) {
      writers += static_cast<size_t>(may_write(binding.value));
      if (binding.var != nullptr) writers_before_.emplace(binding.var.get(), writers);
    }
}

bool Writes::may_change(const Binding& first, const Binding& second, const Expr& leaf) const {
  return any_ && writers_before_.at(first.var.get()) != writers_before_.at(second.var.get()) && is_in_reach(leaf);
}

bool Writes::is_in_reach(const Expr& leaf) const {
  if (const auto* tuple = as<Tuple>(leaf))
    return std::ranges::any_of(tuple->fields, [&](const Expr& field) { return is_in_reach(field); });
  if (as<Constant>(leaf) != nullptr || (leaf->info != nullptr && leaf->info->rank == 0u)) return false;
  const auto* var = as<Var>(leaf);
  return var == nullptr || shared_.contains(var) || !made_.contains(var);
}

}  // namespace ingot::analysis
