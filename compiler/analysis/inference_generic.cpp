#include <algorithm>
#include <cstring>

#include "compiler/analysis/copy_function.h"
#include "compiler/analysis/inference.h"

namespace ingot::analysis {

using namespace ir;

namespace {

constexpr size_t kMostInstances = 1000;
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

// Can the shapes be broadcast to one another, as far as they are known?
bool may_broadcast(const StructInfo& a, const StructInfo& b) {
  if (!a->dims || !b->dims) return true;
  const size_t shared = std::min(a->dims->size(), b->dims->size());
  for (size_t i = 1; i <= shared; ++i) {
    const auto x = (*a->dims)[a->dims->size() - i].as_const();
    const auto y = (*b->dims)[b->dims->size() - i].as_const();
    if (x && y && *x != *y && *x != 1 && *y != 1) return false;
  }
  return true;
}

}  // namespace

// Arguments that tell types come first; literals and functions with open parameters then take what is known.
std::vector<Expr> Inference::open_arguments(const Call& e, const Function& f) {
  hold_shapes(f);
  std::vector<Expr> args(e.args.size());
  TypeArguments types(f.type_params);
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
      args[i] = leaf(e.args[i], a != nullptr ? types.apply(a) : nullptr);
    }
  return args;
}

// May the parameter be a function with open parameters of its own?
bool Inference::takes_any(const Function& f, const Var& param) const {
  const StructInfo annotation = annotation_of(param);
  return annotation == nullptr || !mentions_type_param(f, annotation) || annotation->kind == InfoKind::Object;
}

// The function that the call needs: parameters with the StructInfo of its arguments. Nothing after an error, or where
// an argument is not known yet.
std::optional<Inference::Instance> Inference::instantiate(const Call& e, const Function& f, const std::string& name,
                                                          const std::vector<Expr>& args) {
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
  std::string key;
  std::vector<bool> has_holes(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    has_holes[i] = mentions_unknown(args[i]->info) && holds_holes(args[i]->info);
    if (mentions_unknown(args[i]->info) && (!has_holes[i] || !takes_any(f, *f.params[i]))) return std::nullopt;
    if (has_holes[i])
      for (const StructInfo& field : args[i]->info->fields) {
        const auto hole = field->shape_var ? holes_.find(field->shape_var.get()) : holes_.end();
        const Origin at = hole == holes_.end() ? Origin{} : hole->second;
        key += fmt::format("{}:{}.{};", i, static_cast<const void*>(at.var), at.copy);
      }
    given.push_back(has_holes[i] ? object_info() : args[i]->info);
  }
  size_t budget = kMostParts;
  if (!std::ranges::all_of(given, [&](const StructInfo& info) { return is_small(info, budget); })) {
    diagnostics_->error(
        ErrorCode::TypeError, span,
        fmt::format("the arguments of {} have more than {} parts: it calls itself with ever larger ones", name,
                    kMostParts));
    return std::nullopt;
  }
  Generalized general = generalize(given);
  key += general.key;
  for (size_t i = 0; i < args.size(); ++i)
    if (has_holes[i]) general.infos[e.info_args.size() + i] = args[i]->info;
  TypeArguments types(f.type_params);
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
    if (annotation != nullptr && (!has_holes[i] || takes_any(f, *f.params[i])) && !types.match(annotation, argument)) {
      diagnostics_->error(ErrorCode::TypeError, span,
                          fmt::format("argument {} of {} is {}, which does not fit its other arguments", i, name,
                                      to_text(args[i]->info)));
      return std::nullopt;
    }
  }
  if (const auto* missing = types.missing()) {
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
  }
  FunctionRef copy = copy_function(
      f, [&](const StructInfo& info) { return types.apply(info); }, params, origin_, copy_number(f, key));
  // An instance has no type parameters left.
  auto instance = std::make_shared<Function>(copy->params, copy->body, copy->result, f.pure, f.attrs, f.span);
  copies_.push_back(instance);
  // A literal stands for itself at each use of an open parameter.
  for (const auto& [i, literal] : literals) literals_[instance->params[i].get()] = literal;
  return Instance{std::move(key), std::move(instance)};
}

// Relations of a `where` clause at one call; false where one does not hold.
bool Inference::check_relations(const Call& e, const Function& f, const std::vector<Expr>& args) {
  const size_t before = diagnostics_->all().size();
  for (const std::string& relation : f.where) {
    if (relation != "Broadcast" && relation != "Identity") {
      diagnostics_->error(ErrorCode::TypeError, place(e.span), fmt::format("there is no type relation {}", relation),
                          "relations are Broadcast and Identity");
      continue;
    }
    for (const Expr& a : args) {
      if (is_unknown(a->info)) continue;
      if (a->info->kind != InfoKind::Tensor)
        diagnostics_->error(ErrorCode::TypeError, place(e.span),
                            fmt::format("{}: an argument is {}, expected a tensor", relation, to_text(a->info)));
      for (const Expr& b : args)
        if (&a < &b && !is_unknown(b->info) &&
            (relation == "Broadcast" ? !may_broadcast(a->info, b->info)
                                     : is_compatible(a->info, b->info) == Compatibility::Incompatible))
          diagnostics_->error(
              ErrorCode::ShapeMismatch, place(e.span),
              fmt::format("{} does not hold between {} and {}", relation, to_text(a->info), to_text(b->info)));
    }
  }
  return diagnostics_->all().size() == before;
}

// The instance of a global function for these arguments, as a callee; null after an error, or where something is not
// known yet.
Expr Inference::global_instance(const Call& e, Global& global, const std::vector<Expr>& args) {
  const Function& f = *global.definition.function;
  const std::string original = global.definition.name;
  const bool related = check_relations(e, f, args);
  const auto instance = related ? instantiate(e, f, "@" + original, args) : std::nullopt;
  if (!instance) return nullptr;
  const auto [at, added] = global.instances.try_emplace(instance->key);
  if (added && global.instances.size() > kMostInstances) {
    global.instances.erase(at);
    diagnostics_->error(ErrorCode::TypeError, place(e.span),
                        fmt::format("@{} is called with more than {} kinds of arguments: it calls itself with ever "
                                    "new ones",
                                    original, kMostInstances));
    return nullptr;
  }
  if (added) {
    // The first instance takes the function's name; `<>` keeps it apart from the function among the keys.
    std::string name = original;
    for (size_t i = global.instances.size() - 1; i != 0 && (name == original || globals_.contains(name)); ++i)
      name = fmt::format("{}_{}", original, i);
    at->second = name == original ? original + "<>" : name;
    globals_[at->second].definition = {name, instance->function, nullptr, false, global.definition.span};
    order_.push_back(at->second);
  }
  Global& target = globals_.find(at->second)->second;
  return typed(std::make_shared<GlobalVar>(target.definition.name, e.callee->span),
               signature(at->second, place(e.span)));
}

// The same for a let-bound function.
Expr Inference::local_instance(const Call& e, Local& local, const std::vector<Expr>& args) {
  const Function& f = *local.function;
  const std::string name = local.var->name.empty() ? "the function" : "%" + local.var->name;
  const bool related = check_relations(e, f, args);
  const auto instance = related ? instantiate(e, f, name, args) : std::nullopt;
  if (!instance) return nullptr;
  const auto [at, added] = local.instances.try_emplace(instance->key);
  if (added) {
    if (local.instances.size() > kMostInstances) {
      local.instances.erase(at);
      diagnostics_->error(ErrorCode::TypeError, place(e.span),
                          fmt::format("{} is called with more than {} kinds of arguments", name, kMostInstances));
      return nullptr;
    }
    const auto var = std::make_shared<const Var>(local.var->name, nullptr, local.dataflow, local.var->span);
    at->second = var;
    const auto hidden = scope_.cut(local.scope);
    auto outer_named = std::exchange(named_, {});
    FunctionRef inferred = function(*instance->function, var.get());
    scope_.restore(hidden);
    named_ = std::move(outer_named);
    var->info = inferred->info;
    local.bindings.push_back({var, std::move(inferred), nullptr, f.span});
  }
  return local.instances.find(instance->key)->second;
}

Expr Inference::call_instance(const Call& e, Expr instance, std::vector<Expr> args) {
  if (instance != nullptr) return call_function(e, std::move(instance), std::move(args));
  return typed(std::make_shared<Call>(e.callee, std::move(args), e.attrs, e.info_args, e.span), unknown());
}

Expr Inference::call_global_generic(const Call& e, Global& global) {
  std::vector<Expr> args = open_arguments(e, *global.definition.function);
  Expr instance = global_instance(e, global, args);
  return call_instance(e, std::move(instance), std::move(args));
}

Expr Inference::call_local_generic(const Call& e, Local& local) {
  std::vector<Expr> args = open_arguments(e, *local.function);
  Expr instance = local_instance(e, local, args);
  return call_instance(e, std::move(instance), std::move(args));
}

Origin Inference::origin_of(const Var& var) const {
  const auto found = origin_.find(&var);
  return found == origin_.end() ? Origin{&var, 0} : found->second;
}

// Each copy of a function has open parameters of its own, the same ones in each round of the walk.
uint32_t Inference::copy_number(const Function& f, const std::string& key) {
  const Origin at = f.params.empty() ? Origin{} : origin_of(*f.params.front());
  const std::string what = fmt::format("{}.{} {}", static_cast<const void*>(at.var), at.copy, key);
  return copy_numbers_.try_emplace(what, static_cast<uint32_t>(copy_numbers_.size() + 1)).first->second;
}

// A function with open parameters that nobody calls is checked as far as its parameters do not matter.
void Inference::check_uncalled(const Function& f, SymScope::Mark scope) {
  copies_.push_back(copy_function(
      f, [&](const StructInfo& info) { return mentions_type_param(f, info) ? unknown() : info; }, {}, origin_,
      copy_number(f, "?")));
  const size_t unsolved = unsolved_.size();
  const auto hidden = scope_.cut(scope);
  auto outer_named = std::exchange(named_, {});
  function(*copies_.back(), nullptr);
  scope_.restore(hidden);
  named_ = std::move(outer_named);
  unsolved_.resize(unsolved);
}

}  // namespace ingot::analysis
