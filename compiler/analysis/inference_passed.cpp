#include <algorithm>

#include "compiler/analysis/inference.h"

// Functions with open parameters that are passed on: each such use is an instance of its own, whose parameters take
// what is asked for there, or what the function that arrives elsewhere is applied to.
namespace ingot::analysis {

using namespace ir;

// Is a function with all its parameters known asked for, so that `f` can be passed on as the instance that takes them?
bool Inference::is_asked_for(const Function& f, const StructInfo& expected) const {
  return expected != nullptr && expected->kind == InfoKind::Func && expected->has_params &&
         expected->fields.size() == f.params.size() &&
         std::ranges::all_of(expected->fields, [this](const StructInfo& field) { return is_known(field); });
}

// A call of `callee` with arguments of these types; only its StructInfo counts.
Call Inference::imagined_call(const Expr& callee, const std::vector<StructInfo>& params) {
  std::vector<Expr> args;
  for (const StructInfo& param : params) {
    const auto var = std::make_shared<Var>("", nullptr, false, callee->span);
    var->info = param;
    args.push_back(var);
  }
  return {callee, std::move(args), {}, {}, callee->span};
}

// A let-bound variable may be another name of a function with open parameters.
const Expr& Inference::meant(const Expr& e) const {
  if (aliases_.empty()) return e;
  const auto* var = as<Var>(e);
  const auto found = var != nullptr ? aliases_.find(var) : aliases_.end();
  return found == aliases_.end() ? e : found->second;
}

// Does the value take what the other arguments tell?
bool Inference::is_late(const Expr& given) const {
  const Expr& e = meant(given);
  if (const auto* global = as<GlobalVar>(e)) {
    const auto found = globals_.find(global->name);
    return found != globals_.end() && found->second.polymorphic;
  }
  return is_open(e) || (as<Var>(e) != nullptr && locals_.contains(as<Var>(e)));
}

// Names the use at hand; the same in each round of the walk.
uint32_t Inference::use_number() {
  return copy_number(fmt::format("use {}.{}.{}", fmt::ptr(context_.at.var), context_.at.copy, context_.uses++));
}

// A type variable for what the expression at hand gives.
StructInfo Inference::fresh() { return holes_.make({nullptr, use_number()}, "t"); }

// The parameters that this use of the function has, as far as they are known; nothing where only an annotation can tell
// them.
std::optional<Inference::Passed> Inference::passed_on(const Function& f, uint32_t use) {
  Passed passed;
  const auto place_of = [&](const Origin& at, const std::string& name) {
    if (const auto left = left_.find(at); left != left_.end()) {
      if (left->second.as == Left::As::Exposed) passed.is_default = true;
      if (left->second.as == Left::As::Supposed) passed.supposed.push_back(at);
      if (left->second.as == Left::As::Uncalled) passed.unused_result = left->second.result;
    }
    if (const auto solved = solved_.find(at); solved != solved_.end()) return solved->second;
    passed.open.push_back(at);
    return holes_.resolve(holes_.make(at, name));
  };
  TypeArguments types(f.type_params, holes_);
  for (size_t i = 0; i < f.type_params.size(); ++i)
    if (f.type_params[i].kind == "Type")
      types.set(i,
                place_of({nullptr, copy_number(fmt::format("type {} of use {}", i, use))}, f.type_params[i].var->name));
  for (const VarRef& param : f.params) {
    const StructInfo annotation = annotation_of(*param);
    if (annotation == nullptr) {
      passed.params.push_back(place_of({origin_of(*param).var, use}, param->name));
      continue;
    }
    passed.params.push_back(mentions_type_param(f, annotation) ? types.apply(annotation) : annotation);
    if (mentions_type_param(f, passed.params.back())) return std::nullopt;
  }
  return passed;
}

// What stands for the function where nobody calls it.
Inference::Instance Inference::uncalled(const Function& f, const StructInfo& result_info) const {
  std::vector<VarRef> params;
  for (const VarRef& param : f.params)
    params.push_back(std::make_shared<Var>(param->name, object_info(), false, param->span));
  const auto trap =
      std::make_shared<ExternFunc>("ingot.fail", std::vector<StructInfo>{result_info}, std::vector<uint32_t>{}, f.span);
  const auto text = std::make_shared<String>("a function that nobody calls was called", f.span);
  const auto result = std::make_shared<Var>("", nullptr, false, f.span);
  const auto call = std::make_shared<Call>(trap, std::vector<Expr>{text}, Attrs{}, std::vector<StructInfo>{}, f.span);
  auto body =
      std::make_shared<Seq>(std::vector<BindingBlock>{{false, {{result, call, nullptr, f.span}}}}, result, f.span);
  const std::string key = "!" + to_text(result_info);
  return {key, key, false, false,
          std::make_shared<Function>(std::move(params), std::move(body), nullptr, f.pure, Attrs{{"force_pure", true}},
                                     f.span)};
}

// A let-bound function as a value.
Expr Inference::passed_local(const Expr& e, Local& local, const StructInfo& asked) {
  const Function& f = *local.function;
  local.escapes = true;
  const uint32_t use = use_number();
  const StructInfo expected = holes_.resolve(asked);
  const auto nothing = [&] { return typed(std::make_shared<Var>(local.var->name, nullptr, false, e->span), wrong()); };
  const auto passed = passed_on(f, use);
  if (is_asked_for(f, expected) && !(passed && passed->unused_result)) {
    const Call call = imagined_call(e, expected->fields);
    Expr instance = local_instance(call, local, call.args, use);
    return instance != nullptr ? instance : nothing();
  }
  if (!local.family.running.empty()) {
    Expr running = running_local(e, local);
    return running != nullptr ? running : nothing();
  }
  if (!passed) {
    if (!uncalled_) unsolved_.push_back({place(f.span), "", {}, nullptr});
    return nothing();
  }
  if (passed->unused_result != nullptr) {
    const Instance instance = uncalled(f, passed->unused_result);
    const auto found = local.instances.find(instance.key);
    return found != local.instances.end() ? found->second : bind_instance(local, instance);
  }
  const Call call = imagined_call(e, passed->params);
  const size_t messages = diagnostics_->all().size();
  Expr instance = local_instance(call, local, call.args, use);
  judge_default(*passed, messages, place(f.span), "");
  if (!passed->open.empty() && !uncalled_)
    unsolved_.push_back({place(f.span), "", passed->open, instance != nullptr ? instance->info : nullptr});
  return instance != nullptr ? instance : nothing();
}

// The same for a function of the module.
Expr Inference::passed_global(const Expr& e, Global& global, const StructInfo& asked) {
  const Function& f = *global.definition.function;
  const std::string name = global.definition.name;
  const uint32_t use = use_number();
  const StructInfo expected = holes_.resolve(asked);
  const auto nothing = [&] { return typed(std::make_shared<GlobalVar>(name, e->span), wrong()); };
  const auto passed = passed_on(f, use);
  if (is_asked_for(f, expected) && !(passed && passed->unused_result)) {
    const Call call = imagined_call(e, expected->fields);
    Expr instance = global_instance(call, global, call.args, use);
    return instance != nullptr ? instance : nothing();
  }
  if (!global.family.running.empty()) {
    Expr running = running_global(e, global);
    return running != nullptr ? running : nothing();
  }
  if (!passed) {
    if (!uncalled_) unsolved_.push_back({place(e->span), name, {}, nullptr});
    return nothing();
  }
  if (passed->unused_result != nullptr) {
    const Instance instance = uncalled(f, passed->unused_result);
    if (!global.instances.contains(instance.key)) name_instance(global, instance);
    const std::string& at = global.instances.at(instance.key);
    return typed(std::make_shared<GlobalVar>(globals_.find(at)->second.definition.name, e->span),
                 signature(at, place(e->span)));
  }
  const Call call = imagined_call(e, passed->params);
  const size_t messages = diagnostics_->all().size();
  Expr instance = global_instance(call, global, call.args, use);
  judge_default(*passed, messages, place(e->span), name);
  if (!passed->open.empty() && !uncalled_)
    unsolved_.push_back({place(e->span), name, passed->open, instance != nullptr ? instance->info : nullptr});
  return instance != nullptr ? instance : nothing();
}

// Does the instance do whose parameters nothing fixed?
void Inference::judge_default(const Passed& passed, size_t messages, const Span& use, const std::string& global) {
  if ((!passed.is_default && passed.supposed.empty()) || !found_errors(messages)) return;
  diagnostics_->truncate(messages);
  if (passed.is_default) return refuse_open(use, global);
  for (const Origin& at : passed.supposed) left_.at(at).as = Left::As::Uncalled;
  again_ = true;
}

void Inference::refuse_open(const Span& use, const std::string& global) {
  if (!global.empty())
    refuse_polymorphic(global, use);
  else
    diagnostics_->error(ErrorCode::TypeError, use, "the parameters of this function are not fixed by its uses",
                        "annotate them: fn(%x: Tensor[...])");
  refused_.push_back(diagnostics_->all().back());
}

// Keeps what is known of an open parameter.
void Inference::solve(const Origin& param, const StructInfo& info) {
  if (!is_known(info)) return;
  again_ = solved_.emplace(param, generalize({info}).infos[0]).second || again_;
}

// Where a function with these parameters is asked for, its open ones take them.
void Inference::solve_params(const Function& f, const StructInfo& expected) {
  if (expected == nullptr || expected->kind != InfoKind::Func || expected->fields.size() != f.params.size()) return;
  for (size_t i = 0; i < f.params.size(); ++i) {
    if (annotation_of(*f.params[i]) == nullptr) solve(origin_of(*f.params[i]), expected->fields[i]);
  }
}

// At the end of a round: keeps what type variables of parameters turned out to be.
void Inference::solve_holes() {
  for (const auto& [given, expected] : literal_uses_) holes_.unify(given, expected);
  for (const Unsolved& use : unsolved_)
    for (const Origin& at : use.open) solve(at, holes_.resolve(holes_.make(at, "")));
  for (const auto& [number, result] : sites_) {
    const StructInfo info = holes_.resolve(result);
    if (is_known(info)) again_ = site_results_.emplace(number, generalize({info}).key).second || again_;
  }
}

// Where no more can be solved: what leaves the sight of inference takes anything, what stays has nobody who calls it.
void Inference::fill_holes() {
  for (const Unsolved& use : unsolved_) {
    const auto is_wrong = [this](const Origin& at) { return mentions_wrong(holes_.resolve(holes_.make(at, ""))); };
    const bool follows = use.func != nullptr && mentions_wrong(holes_.resolve(use.func));
    if (follows || std::ranges::any_of(use.open, is_wrong)) continue;
    if (use.open.empty()) {
      refuse_open(use.span, use.global);
      continue;
    }
    // A call would have told each parameter at least what kind of value it is.
    Left left{Left::As::Supposed, object_info()};
    for (const Origin& at : use.open)
      if (holes_.is_hole(holes_.head(holes_.make(at, "")))) left.as = Left::As::Uncalled;
    for (const Origin& at : use.open)
      if (holes_.is_exposed(holes_.make(at, ""))) left.as = Left::As::Exposed;
    const StructInfo func = use.func != nullptr ? holes_.filled(holes_.resolve(use.func), object_info()) : nullptr;
    if (func != nullptr && func->result != nullptr && !mentions_unknown(func->result))
      left.result = erase_vars(func->result, [](const SymVar&) { return false; });
    for (const Origin& at : use.open) {
      again_ = left_.emplace(at, left).second || again_;
      if (left.as != Left::As::Uncalled) solve(at, holes_.filled(holes_.resolve(holes_.make(at, "")), object_info()));
    }
  }
}

}  // namespace ingot::analysis
