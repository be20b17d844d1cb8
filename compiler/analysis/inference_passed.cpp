#include <algorithm>

#include "compiler/analysis/inference.h"

// Functions with open parameters that are passed on: each such use is an instance of its own, whose parameters take
// what is asked for there, or what the function that arrives elsewhere is applied to.
namespace ingot::analysis {

using namespace ir;

// Is a function with all its parameters known asked for, so that `f` can be passed on as the instance that takes them?
bool Inference::is_asked_for(const Function& f, const StructInfo& expected) const {
  return expected != nullptr && expected->kind == InfoKind::Func && expected->has_params &&
         expected->fields.size() == f.params.size() && !holds_holes(expected) &&
         std::ranges::none_of(expected->fields, mentions_unknown);
}

// A call of `callee` with arguments of the types that `expected` takes; only its StructInfo counts.
Call Inference::imagined_call(const Expr& callee, const StructInfo& expected) {
  std::vector<Expr> args;
  for (const StructInfo& field : expected->fields) {
    const auto var = std::make_shared<Var>("", nullptr, false, callee->span);
    var->info = field;
    args.push_back(var);
  }
  return {callee, std::move(args), {}, {}, callee->span};
}

// Does the value take what the other arguments tell?
bool Inference::is_late(const Expr& e) const {
  if (const auto* global = as<GlobalVar>(e)) {
    const auto found = globals_.find(global->name);
    return found != globals_.end() && found->second.polymorphic;
  }
  return is_open(e) || (as<Var>(e) != nullptr && locals_.contains(as<Var>(e)));
}

// Names the use at hand; the same in each round of the walk.
uint32_t Inference::use_number(const Function& f) {
  const std::string use = fmt::format("use {} {}.{}", fmt::ptr(context_.at.var), context_.at.copy, context_.uses++);
  return copy_number(f, use);
}

// The StructInfo of the instance that this use passes on, as far as it is known; null where only an annotation can tell
// it. What `expected` asks for is kept for the next round.
StructInfo Inference::passed_on(const Function& f, const StructInfo& expected) {
  const uint32_t use = use_number(f);
  const bool same_count =
      expected != nullptr && expected->kind == InfoKind::Func && expected->fields.size() == f.params.size();
  std::vector<StructInfo> params;
  for (size_t i = 0; i < f.params.size(); ++i) {
    const StructInfo annotation = annotation_of(*f.params[i]);
    const bool is_open = annotation == nullptr || (annotation->kind == InfoKind::Object && annotation->shape_var);
    if (!is_open && mentions_type_param(f, annotation)) return nullptr;
    if (!is_open) {
      params.push_back(annotation);
      continue;
    }
    const Origin at{origin_of(*f.params[i]).var, use};
    if (same_count) solve(at, expected->fields[i]);
    if (same_count && is_hole(expected->fields[i])) {
      params.push_back(expected->fields[i]);
      continue;
    }
    if (const auto solved = solved_.find(at); solved != solved_.end()) {
      params.push_back(solved->second);
      continue;
    }
    SymVar& symbol = hole_symbols_[at];
    if (!symbol) symbol = make_sym_var(f.params[i]->name);
    holes_[symbol.get()] = at;
    params.push_back(make_hole(symbol));
  }
  return func_info(std::move(params), unknown(), f.pure);
}

bool Inference::is_hole(const StructInfo& info) const {
  return info->kind == InfoKind::Object && info->shape_var && holes_.contains(info->shape_var.get());
}

// Does the function type have parameters that only uses can tell?
bool Inference::holds_holes(const StructInfo& info) const {
  return info->kind == InfoKind::Func &&
         std::ranges::any_of(info->fields, [this](const StructInfo& field) { return is_hole(field); });
}

// Keeps what is known of an open parameter.
void Inference::solve(const Origin& param, const StructInfo& info) {
  if (mentions_unknown(info) || info->shape_var) return;
  again_ = solved_.emplace(param, generalize({info}).infos[0]).second || again_;
}

// A function with open parameters that stands beside another one takes what that one takes.
void Inference::solve_by(const StructInfo& open, const StructInfo& other) {
  if (!holds_holes(open) || other->kind != InfoKind::Func || other->fields.size() != open->fields.size()) return;
  for (size_t i = 0; i < open->fields.size(); ++i)
    if (is_hole(open->fields[i]) && !is_hole(other->fields[i]))
      solve(holes_.at(open->fields[i]->shape_var.get()), other->fields[i]);
}

// Where a function with these parameters is asked for, its open ones take them.
void Inference::solve_params(const Function& f, const StructInfo& expected) {
  if (expected == nullptr || expected->kind != InfoKind::Func || expected->fields.size() != f.params.size()) return;
  for (size_t i = 0; i < f.params.size(); ++i) {
    if (annotation_of(*f.params[i]) == nullptr) solve(origin_of(*f.params[i]), expected->fields[i]);
  }
}

}  // namespace ingot::analysis
