#include <algorithm>

#include "compiler/analysis/inference.h"
#include "compiler/analysis/literals.h"
#include "compiler/ir/visitor.h"

namespace ingot::analysis {

using namespace ir;

Inference::OpenTemp* Inference::open_temp(const Expr& e) const {
  const auto* var = as<Var>(e);
  const auto found = var != nullptr ? open_temps_.find(var) : open_temps_.end();
  return found == open_temps_.end() || found->second->settled ? nullptr : found->second.get();
}

size_t Inference::open_depth(const Expr& e) const {
  size_t depth = 0;
  const auto* branch = as<If>(e);
  if (branch == nullptr)
    for_each_child(e, [&](const Expr& child) {
      if (const OpenTemp* temp = open_temp(child)) depth = std::max(depth, temp->depth);
    });
  return depth + 1;
}

// Whether the value is made of unsuffixed literals alone and has their dtype; then whether one of them is a decimal.
std::optional<bool> Inference::open_class(const Expr& value) const {
  if (const Constant* literal = literal_of(value)) return !is_integer(literal->data->dtype);
  if (const OpenTemp* temp = open_temp(value)) return temp->decimal;
  if (const auto* branch = as<If>(value)) {
    if (branch->sugar != ShortCircuit::None) return std::nullopt;
    const auto one = open_class(*as<Seq>(branch->then_branch));
    const auto other = one ? open_class(*as<Seq>(branch->else_branch)) : std::nullopt;
    return other ? std::optional(*one || *other) : std::nullopt;
  }
  const auto* call = as<Call>(value);
  const auto* op = call != nullptr ? as<OpExpr>(call->callee) : nullptr;
  if (op == nullptr || call->args.empty() || !call->attrs.empty() || !call->info_args.empty()) return std::nullopt;
  bool decimal = false;
  for (const Expr& arg : call->args) {
    const auto open = is_open(arg) ? open_class(arg) : std::nullopt;
    if (!open) return std::nullopt;
    decimal = decimal || *open;
  }
  // Does the operator give the dtype of its operands?
  const DType dtype = decimal ? DType::Float32 : DType::Int32;
  std::vector<Expr> args;
  for (size_t i = 0; i < call->args.size(); ++i)
    args.push_back(
        typed(std::make_shared<Tuple>(std::vector<Expr>{}, value->span), tensor_info(dtype, std::vector<PrimExpr>{})));
  std::vector<StructInfo> infos;
  for (const Expr& arg : args) infos.push_back(arg->info);
  try {
    if (!same_info(op->op->infer(CallSite(*op->op, args, infos, call->attrs, call->info_args)), infos.front()))
      return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  return decimal;
}

// The last value of the sequence, which nothing else can use.
std::optional<bool> Inference::open_class(const Seq& seq) const {
  if (literal_of(seq.body) != nullptr || seq.blocks.empty()) return open_class(seq.body);
  const Binding& last = seq.blocks.back().bindings.back();
  const bool fits = last.var.get() == as<Var>(seq.body) && last.var->annotation == nullptr && last.cast == nullptr;
  return fits ? open_class(last.value) : std::nullopt;
}

// Infers the value in the context that its use gives; null where that asks nothing.
void Inference::settle(OpenTemp& temp, const StructInfo& expected) {
  const bool numeric = expected != nullptr && !is_unknown(expected) && expected->kind == InfoKind::Tensor &&
                       (is_float(expected->dtype) || (is_integer(expected->dtype) && !temp.decimal));
  temp.settled = true;
  const Context outer = context_;
  const bool branches = temp.binding.value->kind == ExprKind::If;
  const auto hidden = branches ? scope_.cut(temp.scope) : std::vector<const SymVarNode*>();
  const auto hidden_named = branches ? named_.cut(temp.named) : std::vector<Named::Entry>();
  context_.into = &temp.bindings;
  if (temp.binding.span.line != 0) context_.here = temp.binding.span;
  Binding made = temp.binding;
  made.value = value(made.value, numeric ? tensor_info(expected->dtype, std::vector<PrimExpr>{}) : nullptr, made);
  made.var->info = made.value->info;
  temp.bindings.push_back(std::move(made));
  context_ = outer;
  scope_.restore(hidden);
  named_.restore(hidden_named);
}

}  // namespace ingot::analysis
