#include <algorithm>
#include <cstring>

#include "compiler/analysis/copy_function.h"
#include "compiler/analysis/inference.h"
#include "compiler/ops/ops.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::analysis {

using namespace ir;

namespace {

constexpr size_t kMostInstances = 1000;
constexpr size_t kMostSites = 100'000;
constexpr size_t kMostParts = 10'000;  // of the types of one call's arguments

// Counts the parts of a type down from `budget`; false where that does not suffice.
bool is_small(const StructInfo& info, size_t& budget) {
  if (info == nullptr) return true;
  if (budget == 0) return false;
  --budget;
  return std::ranges::all_of(info->fields, [&](const StructInfo& field) { return is_small(field, budget); }) &&
         is_small(info->result, budget);
}

uint64_t literal_bits(const Constant& literal) {
  uint64_t bits = 0;
  std::memcpy(&bits, literal.data->data, std::min(sizeof bits, size_t{dtype_bytes(literal.data->dtype)}));
  return bits;
}

std::vector<StructInfo> annotations(const Function& f) {
  std::vector<StructInfo> result;
  for (const VarRef& param : f.params) result.push_back(param->annotation);
  return result;
}

}  // namespace

// Arguments that tell types come first; literals and functions with open parameters then take what is known.
std::vector<Expr> Inference::open_arguments(const Call& e, const Function& f) {
  hold_shapes(f);
  std::vector<Expr> args(e.args.size());
  TypeArguments types(f.type_params, holes_);
  for (size_t i = 0; i < e.info_args.size(); ++i) types.set(i, e.info_args[i]);
  const auto annotation = [&](size_t i) { return i < f.params.size() ? annotation_of(*f.params[i]) : nullptr; };
  for (size_t i = 0; i < args.size(); ++i)
    if (!is_late(e.args[i])) {
      args[i] = leaf(e.args[i], annotation(i));
      if (const StructInfo a = annotation(i); a != nullptr && !mentions_unknown(args[i]->info))
        types.match(a, args[i]->info);
    }
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i] == nullptr) {
      const StructInfo a = annotation(i);
      const StructInfo told = a != nullptr ? types.apply(a) : nullptr;
      args[i] = leaf(e.args[i], told != nullptr && !mentions_type_param(f, told) ? told : nullptr);
    }
  return args;
}

// The function that the call needs: parameters with the StructInfo of its arguments. Nothing after an error, or where
// an argument is not known yet.
std::optional<Inference::Instance> Inference::instantiate(const Call& e, const Function& f, const std::string& name,
                                                          const std::vector<Expr>& args, const Family& family,
                                                          uint32_t site,
                                                          const std::function<bool(const std::string&)>& exists) {
  const Span& span = place(e.span);
  if (args.size() != f.params.size()) {
    diagnostics_->error(ErrorCode::ArityMismatch, span,
                        fmt::format("{} takes {} arguments, {} are given", name, f.params.size(), args.size()));
    return std::nullopt;
  }
  if (e.info_args.size() > f.type_params.size()) {
    diagnostics_->error(ErrorCode::ArityMismatch, span,
                        fmt::format("{} has {} type parameters, {} type arguments are given", name,
                                    f.type_params.size(), e.info_args.size()));
    return std::nullopt;
  }
  // Type arguments and arguments lose the caller's dimensions together.
  std::vector<StructInfo> given = e.info_args;
  std::vector<StructInfo> infos(args.size());
  std::vector<bool> has_holes(args.size()), is_annotated(args.size());
  Instance made;
  std::string& key = made.key;
  // What only uncalled functions ask for stays out of the result: it is never the same instance.
  if (uncalled_) key = "uncalled ";
  for (size_t i = 0; i < args.size(); ++i) {
    if (mentions_unknown(args[i]->info)) return std::nullopt;
    infos[i] = holes_.resolve(args[i]->info);
    const StructInfo annotation = annotation_of(*f.params[i]);
    is_annotated[i] = annotation != nullptr && !mentions_type_param(f, annotation);
    has_holes[i] = holes_.mentions_hole(infos[i]);
    if (has_holes[i] && !is_annotated[i]) {
      key += fmt::format("{}:{};", i, holes_.key(infos[i]));
      made.open = true;
    }
    given.push_back(has_holes[i] || is_annotated[i] ? object_info() : infos[i]);
  }
  size_t budget = kMostParts;
  bool fits = std::ranges::all_of(given, [&](const StructInfo& info) { return is_small(info, budget); });
  for (size_t i = 0; i < args.size(); ++i) fits = fits && (!has_holes[i] || is_small(infos[i], budget));
  if (!fits) {
    const std::string message = fmt::format("the arguments of {} have more than {} parts", name, kMostParts);
    // Functions that nobody calls get there once more.
    const bool said = std::ranges::any_of(diagnostics_->all(), [&](const Diagnostic& d) {
      return d.message == message && d.span.line == span.line && d.span.column == span.column;
    });
    if (!said)
      diagnostics_->error(ErrorCode::TypeError, span, message,
                          "calls pass on ever larger types: keep what is passed the same from call to call");
    return std::nullopt;
  }
  Generalized general = generalize(given);
  key += general.key;
  for (size_t i = 0; i < args.size(); ++i)
    if (has_holes[i]) general.infos[e.info_args.size() + i] = infos[i];
  TypeArguments types(f.type_params, holes_);
  for (size_t i = 0; i < e.info_args.size(); ++i)
    if (!types.set(i, general.infos[i])) {
      diagnostics_->error(ErrorCode::TypeError, span,
                          fmt::format("type argument {} of {} is {}, its kind is {}", i, name, to_text(e.info_args[i]),
                                      f.type_params[i].kind));
      return std::nullopt;
    }
  std::vector<StructInfo> params(args.size());
  std::vector<size_t> order;
  for (const bool functions : {false, true})
    for (size_t i = 0; i < args.size(); ++i)
      if ((args[i]->info->kind == InfoKind::Func) == functions) order.push_back(i);
  for (const size_t i : order) {
    const StructInfo& argument = general.infos[e.info_args.size() + i];
    const StructInfo annotation = annotation_of(*f.params[i]);
    if (annotation == nullptr) params[i] = argument;
    if (annotation != nullptr && !is_annotated[i] && !types.match(annotation, argument)) {
      // In the caller's dimensions: what type arguments and the arguments before have told.
      TypeArguments told(f.type_params, holes_);
      for (size_t t = 0; t < e.info_args.size(); ++t) told.set(t, e.info_args[t]);
      for (const size_t before : order) {
        if (before == i) break;
        if (const StructInfo a = annotation_of(*f.params[before]); a != nullptr && !is_annotated[before])
          told.match(a, infos[before]);
      }
      const StructInfo expected = told.apply(annotation);
      const bool known = is_known(infos[i]) && !mentions_type_param(f, expected);
      if (!known || is_compatible(infos[i], expected) != Compatibility::Incompatible)
        diagnostics_->error(
            ErrorCode::TypeError, span,
            fmt::format("argument {} of {} is {}, expected {}", i, name, to_text(holes_.filled(infos[i], nullptr)),
                        known || expected->kind != InfoKind::Tensor ? to_text(expected) : "a tensor"));
      else
        expect(infos[i], expected, span, fmt::format("argument {} of {}", i, name));
      return std::nullopt;
    }
  }
  if (const auto* missing = types.missing()) {
    if (made.open) return std::nullopt;
    diagnostics_->error(ErrorCode::TypeError, span,
                        fmt::format("no argument of {} tells its type parameter {}", name, missing->var->name),
                        "give it: " + name + "<...>(...)");
    return std::nullopt;
  }
  std::vector<std::pair<size_t, Expr>> literals;
  for (size_t i = 0; i < args.size(); ++i) {
    if (literal_of(e.args[i]) == nullptr || annotation_of(*f.params[i]) != nullptr) continue;
    const Constant& literal = *literal_of(e.args[i]);
    literals.emplace_back(i, as<Var>(e.args[i]) ? literals_.at(as<Var>(e.args[i])) : e.args[i]);
    key += fmt::format("#{}={} {:x}", i, dtype_name(literal.data->dtype), literal_bits(literal));
    made.literals = true;
  }
  made.base = key;
  const auto runs = [&](const Running& running) { return running.base == made.base; };
  if (std::ranges::any_of(family.running, runs)) return made;
  if (open_results_.contains(family.id + " " + key)) {
    const auto told = site_results_.find(site);
    key += told != site_results_.end() ? "|" + told->second : fmt::format("|{}", site);
  }
  if (exists(key)) return made;
  FunctionRef copy = copy_function(
      f, [&](const StructInfo& info) { return types.apply(info); }, params, origin_, copy_number(family.id + key));
  // An instance has no type parameters left.
  auto instance = std::make_shared<Function>(copy->params, copy->body, copy->result, f.pure, f.attrs, f.span);
  instance->where = f.where;
  copies_.push_back(instance);
  // A literal stands for itself at each use of an open parameter.
  for (const auto& [i, literal] : literals) literals_[instance->params[i].get()] = literal;
  made.function = std::move(instance);
  return made;
}

// Has the result type variables that the parameters have not?
bool Inference::is_open_result(const StructInfo& func, const std::vector<Expr>& args) const {
  std::unordered_set<const SymVarNode*> inside, outside;
  holes_.collect(func->result, inside);
  if (inside.empty()) return false;
  for (const StructInfo& field : func->fields) holes_.collect(field, outside);
  for (const Expr& arg : args) holes_.collect(arg->info, outside);
  return std::ranges::any_of(inside, [&](const SymVarNode* hole) { return !outside.contains(hole); });
}

// False, after an error, where a function has too many instances: type inference would not end.
bool Inference::count_instance(const Call& e, const Instance& instance, const std::string& name, Family& family) {
  const bool is_kind = !instance.open && instance.key == instance.base;
  family.kinds += is_kind ? 1 : 0;
  sites_made_ += is_kind ? 0 : 1;
  if (family.kinds <= kMostInstances && sites_made_ <= kMostSites) return true;
  diagnostics_->error(ErrorCode::TypeError, place(e.span),
                      fmt::format("{} is called with more than {} kinds of arguments: it calls itself with ever new "
                                  "ones",
                                  name, is_kind ? kMostInstances : kMostSites));
  return false;
}

// Inside of its own body a function is one function: a call there that passes functions or type variables on is of the
// instance at hand.
bool Inference::stays_in(const Family& family, const Call& e) const {
  if (family.running.empty()) return false;
  return family.running.back().open || std::ranges::any_of(e.args, [this](const Expr& arg) {
           if (is_open(arg)) return false;
           return is_late(arg) || (arg->info != nullptr && holes_.mentions_hole(holes_.resolve(arg->info)));
         });
}

// The instance that is being walked, as a callee.
Expr Inference::running_callee(const Running& running, const Span& use) {
  if (const auto* var = as<Var>(running.callee)) {
    if (var->info != nullptr && is_unknown(var->info->result)) asked_.insert(var);
    return running.callee;
  }
  const auto& name = as<GlobalVar>(running.callee)->name;
  return typed(std::make_shared<GlobalVar>(name, use), signature(running.callee_key, use));
}

// The instance at hand of a function inside of its own body; one that is made for certain literals has a twin that
// takes any. Null after an error.
Expr Inference::running_local(const Expr& e, Local& local) {
  const Running running = local.family.running.back();
  if (!running.literals) return running_callee(running, place(e->span));
  const Call call = imagined_call(e, running.params);
  return local_instance(call, local, call.args, use_number());
}

Expr Inference::running_global(const Expr& e, Global& global) {
  const Running running = global.family.running.back();
  if (!running.literals) return running_callee(running, place(e->span));
  const Call call = imagined_call(e, running.params);
  return global_instance(call, global, call.args, use_number());
}

// The instance of a global function for these arguments, as a callee; null after an error, or where something is not
// known yet.
Expr Inference::global_instance(const Call& e, Global& global, const std::vector<Expr>& args, uint32_t site) {
  const Function& f = *global.definition.function;
  const std::string name = "@" + global.definition.name;
  const Span& use = place(e.span);
  if (!check_relations(e, f, args)) return nullptr;
  const auto instance = instantiate(e, f, name, args, global.family, site,
                                    [&](const std::string& key) { return global.instances.contains(key); });
  if (!instance) return nullptr;
  for (const Running& running : global.family.running)
    if (running.base == instance->base) return running_callee(running, use);
  const bool added = instance->function != nullptr;
  if (added) {
    if (!count_instance(e, *instance, name, global.family)) return nullptr;
    name_instance(global, *instance);
  }
  const std::string at = global.instances.at(instance->key);
  StructInfo func = signature(at, use);
  if (added && instance->key == instance->base && is_open_result(func, args)) {
    again_ = open_results_.insert(global.family.id + " " + instance->base).second || again_;
    global.instances.erase(instance->base);
    global.instances[fmt::format("{}|{}", instance->base, site)] = at;
  }
  if (instance->key != instance->base) sites_.push_back({site, func->result});
  return typed(std::make_shared<GlobalVar>(globals_.find(at)->second.definition.name, e.callee->span), std::move(func));
}

// The first instance takes the function's name; `<>` keeps it apart from the function among the keys.
void Inference::name_instance(Global& global, const Instance& instance) {
  const std::string& original = global.definition.name;
  std::string name = original;
  for (size_t i = global.instances.size(); i != 0 && (name == original || globals_.contains(name)); ++i)
    name = fmt::format("{}_{}", original, i);
  const std::string key = name == original ? original + "<>" : name;
  global.instances[instance.key] = key;
  const bool exported = name == original && global.definition.exported && !is_polymorphic(*global.definition.function);
  Global& made = globals_[key];
  made.definition = {name, instance.function, nullptr, exported, global.definition.span};
  made.original = original;
  made.uncalled = uncalled_;
  made.running = {instance.base,
                  std::make_shared<GlobalVar>(name, global.definition.span),
                  key,
                  instance.open,
                  instance.literals,
                  annotations(*instance.function)};
  order_.push_back(key);
}

// The same for a let-bound function.
Expr Inference::local_instance(const Call& e, Local& local, const std::vector<Expr>& args, uint32_t site) {
  const Function& f = *local.function;
  const std::string name = local.var->name.empty() ? "the function" : "%" + local.var->name;
  if (!check_relations(e, f, args)) return nullptr;
  const auto instance = instantiate(e, f, name, args, local.family, site,
                                    [&](const std::string& key) { return local.instances.contains(key); });
  if (!instance) return nullptr;
  for (const Running& running : local.family.running)
    if (running.base == instance->base) return running_callee(running, place(e.span));
  if (instance->function != nullptr) {
    if (!count_instance(e, *instance, name, local.family)) return nullptr;
    const VarRef var = bind_instance(local, *instance);
    if (instance->key == instance->base && is_open_result(var->info, args)) {
      again_ = open_results_.insert(local.family.id + " " + instance->base).second || again_;
      local.instances.erase(instance->base);
      local.instances[fmt::format("{}|{}", instance->base, site)] = var;
      return var;
    }
  }
  const VarRef var = local.instances.at(instance->key);
  if (instance->key != instance->base) sites_.push_back({site, var->info->result});
  return var;
}

VarRef Inference::bind_instance(Local& local, const Instance& instance) {
  const auto var = std::make_shared<const Var>(local.var->name, nullptr, local.dataflow, local.var->span);
  local.instances[instance.key] = var;
  local.family.running.push_back(
      {instance.base, var, {}, instance.open, instance.literals, annotations(*instance.function)});
  const auto hidden = scope_.cut(local.scope);
  auto outer_named = std::exchange(named_, {});
  FunctionRef inferred = function(*instance.function, var.get());
  scope_.restore(hidden);
  named_ = std::move(outer_named);
  local.family.running.pop_back();
  var->info = inferred->info;
  if (!uncalled_) local.bindings.push_back({var, std::move(inferred), nullptr, local.function->span});
  return var;
}

// Where there is no instance yet, nobody follows what the arguments become. `messages`: how many diagnostics there were
// before the call.
Expr Inference::call_instance(const Call& e, Expr instance, std::vector<Expr> args, size_t messages) {
  if (instance != nullptr) return call_function(e, std::move(instance), std::move(args));
  const StructInfo result = found_errors(messages) ? wrong() : doubt(args);
  if (result == pending())
    for (const Expr& arg : args) holes_.expose(arg->info);
  return typed(std::make_shared<Call>(e.callee, std::move(args), e.attrs, e.info_args, e.span), result);
}

Expr Inference::call_global_generic(const Call& e, Global& global) {
  if (stays_in(global.family, e)) return call_running(e, running_global(e.callee, global));
  const uint32_t site = use_number();
  const size_t messages = diagnostics_->all().size();
  std::vector<Expr> args = open_arguments(e, *global.definition.function);
  Expr instance = global_instance(e, global, args, site);
  return call_instance(e, std::move(instance), std::move(args), messages);
}

Expr Inference::call_local_generic(const Call& e, Local& local) {
  if (stays_in(local.family, e)) return call_running(e, running_local(e.callee, local));
  const uint32_t site = use_number();
  const size_t messages = diagnostics_->all().size();
  std::vector<Expr> args = open_arguments(e, *local.function);
  Expr instance = local_instance(e, local, args, site);
  return call_instance(e, std::move(instance), std::move(args), messages);
}

Expr Inference::call_running(const Call& e, Expr callee) {
  if (callee == nullptr) return call_instance(e, nullptr, arguments(e, wrong()), 0);
  std::vector<Expr> args = arguments(e, callee->info);
  return call_function(e, std::move(callee), std::move(args));
}

Origin Inference::origin_of(const Var& var) const {
  const auto found = origin_.find(&var);
  return found == origin_.end() ? Origin{&var, 0} : found->second;
}

// A number for what is named; the same in each round. Each copy of a function has open parameters of its own.
uint32_t Inference::copy_number(const std::string& what) {
  return copy_numbers_.try_emplace(what, static_cast<uint32_t>(copy_numbers_.size() + 1)).first->second;
}

// A function with open parameters that nobody calls is checked as far as its parameters do not matter.
void Inference::check_uncalled(const Function& f, const Family& family, SymScope::Mark scope) {
  const uint32_t copy = copy_number(family.id + "?");
  std::vector<StructInfo> params;
  for (const VarRef& param : f.params)
    params.push_back(annotation_of(*param) != nullptr ? nullptr
                                                      : holes_.make({origin_of(*param).var, copy}, param->name));
  copies_.push_back(copy_function(
      f, [&](const StructInfo& info) { return mentions_type_param(f, info) ? wrong() : info; }, params, origin_, copy));
  const bool outer_uncalled = std::exchange(uncalled_, true);
  const auto hidden = scope_.cut(scope);
  auto outer_named = std::exchange(named_, {});
  function(*copies_.back(), nullptr);
  scope_.restore(hidden);
  named_ = std::move(outer_named);
  uncalled_ = outer_uncalled;
}

}  // namespace ingot::analysis
