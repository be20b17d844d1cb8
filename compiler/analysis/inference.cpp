#include "compiler/analysis/inference.h"

#include <algorithm>

#include "compiler/analysis/free_vars.h"
#include "compiler/analysis/literals.h"
#include "compiler/ir/visitor.h"
#include "runtime/symbolic/usable.h"

namespace ingot::analysis {

using namespace ir;

namespace {

constexpr size_t kMostRounds = 1000;
// As the greatest chain of operators; the last of a chain of lets settles those before it, one in the other.
constexpr size_t kDeepestOpen = 8000;

bool has_flag(const Attrs& attrs, std::string_view name) {
  const auto found = attrs.find(name);
  return found != attrs.end() && found->second == AttrValue(true);
}

}  // namespace

Module Inference::run() {
  before_ = diagnostics_->all().size();
  for (size_t round = 0;; ++round) {
    again_ = false;
    unsolved_.clear();
    refused_.clear();
    Module result = walk();
    solve_holes();
    if (!again_) {
      keep_errors();
      fill_holes();
    }
    if (again_ && round < kMostRounds) {
      diagnostics_->truncate(before_);
      continue;
    }
    for (const auto& definition : result.definitions())
      if (definition.function != nullptr) refuse_unknown(definition.function->body, mentions_pending);
    if (!kept_.empty()) restore_errors();
    if (!diagnostics_->has_errors())
      for (const auto& definition : result.definitions())
        if (definition.function != nullptr)
          refuse_unknown(definition.function, [this](const StructInfo& info) { return !is_known(info); });
    result.form = std::max(result.form, Form::Typed);
    return result;
  }
}

Module Inference::walk() {
  globals_.clear();
  order_.clear();
  walked_.clear();
  waiting_.clear();
  literals_.clear();
  open_temps_.clear();
  generic_.clear();
  locals_.clear();
  held_.clear();
  asked_.clear();
  named_ = {};
  holes_.forget();
  sites_.clear();
  sites_made_ = 0;
  literal_uses_.clear();
  aliases_.clear();
  origin_.clear();
  copies_.clear();
  for (const auto& definition : module_->definitions()) {
    Global& global = globals_[definition.name];
    global.definition = definition;
    global.polymorphic = definition.function != nullptr &&
                         (is_polymorphic(*definition.function) || generalised_globals_.contains(definition.name));
    global.family.id = "@" + definition.name;
  }
  for (const auto& definition : module_->definitions()) {
    order_.push_back(definition.name);
    if (Global& global = globals_.find(definition.name)->second; definition.function != nullptr && !global.polymorphic)
      complete(global);
  }
  // Instances may make further ones.
  for (size_t i = 0; i < order_.size(); ++i)
    if (Global& global = globals_.find(order_[i])->second; global.definition.function != nullptr && !global.polymorphic)
      complete(global);
  Module result;
  result.form = module_->form;
  const auto add = [&](const Global& global) {
    Definition definition = global.definition;
    if (global.typed != nullptr) definition.function = global.typed;
    result.set(std::move(definition));
  };
  for (const auto& definition : module_->definitions()) {
    const Global& global = globals_.find(definition.name)->second;
    if (!global.polymorphic) add(global);
    for (const auto& [key, name] : global.instances)
      if (const Global& instance = globals_.find(name)->second; !instance.uncalled) add(instance);
  }
  const size_t needed = order_.size();
  for (const auto& definition : module_->definitions())
    if (const Global& global = globals_.find(definition.name)->second; global.polymorphic && global.instances.empty()) {
      const Function& function = *definition.function;
      check_uncalled(function, global.family, {});
      std::string open;
      for (const VarRef& param : function.params)
        if (param->annotation == nullptr) open += (open.empty() ? "%" : ", %") + param->name;
      if (definition.name == "main")
        diagnostics_->warning(
            ErrorCode::TypeError, definition.span, "@main has open parameters and nobody calls it",
            fmt::format("annotate {}, so that it can be run", open.empty() ? "its parameters" : open));
    }
  for (size_t i = needed; i < order_.size(); ++i) complete(globals_.find(order_[i])->second);
  return result;
}

bool Inference::found_errors(size_t since) const {
  return std::ranges::any_of(std::span(diagnostics_->all()).subspan(since),
                             [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::Error; });
}

// What is wrong with the module as far as it can be told before open parameters are filled: a function that turns out
// to be called by nobody is not looked at any more.
void Inference::keep_errors() {
  if (!kept_.empty()) return;
  for (const Diagnostic& d : std::span(diagnostics_->all()).subspan(before_))
    if (d.severity == Diagnostic::Severity::Error) kept_.push_back(d);
}

// Those errors, and of the ones that were found later only what is said of open parameters: the others follow from how
// these were filled.
void Inference::restore_errors() {
  std::vector<Diagnostic> later;
  for (const Diagnostic& d : std::span(diagnostics_->all()).subspan(before_))
    if (d.severity == Diagnostic::Severity::Warning || d.rule == 8 ||
        std::ranges::any_of(refused_, [&](const Diagnostic& r) {
          return r.message == d.message && r.span.line == d.span.line && r.span.column == d.span.column;
        }))
      later.push_back(d);
  diagnostics_->truncate(before_);
  for (const auto* list : {&kept_, &later})
    for (const Diagnostic& d : *list) diagnostics_->add(d);
}

// A function whose result nothing fixes: it always calls itself.
void Inference::refuse_unknown(const Expr& e, const std::function<bool(const StructInfo&)>& is_open) {
  const size_t messages = diagnostics_->all().size();
  for_each_child(e, [&](const Expr& child) { refuse_unknown(child, is_open); });
  if (const auto* f = as<Function>(e);
      f != nullptr && is_open(f->info) && !mentions_wrong(f->info) && !found_errors(messages)) {
    diagnostics_->error(ErrorCode::WellFormedness, f->span, "the result of this recursive function cannot be inferred",
                        "annotate it: -> Tensor[...] behind the parameters", 8);
  }
}

// What is supposed of a recursive function's result grows to hold what its body gives; false where it does already.
bool Inference::suppose(StructInfo& supposed, const StructInfo& result) const {
  if (mentions_unknown(result)) return false;
  if (supposed != nullptr &&
      (!is_known(result) || !is_known(supposed) || is_compatible(result, supposed) == Compatibility::Compatible))
    return false;
  const StructInfo before = std::exchange(supposed, supposed == nullptr ? result : least_upper_bound(supposed, result));
  return before == nullptr || !same_info(before, supposed);
}

// Infers a function of the module once; those that call one another recursively, and do not say what they give, in
// turns: the branches that do not recur tell the results first, and what that makes of the others is added until
// nothing changes. Only the function at which the recursion was entered begins anew, with all that waited for it.
void Inference::complete(Global& global) {
  if (global.state != Global::State::New) return;
  global.state = Global::State::Running;
  global.place = walked_.size();
  global.waits_for = kNobody;
  walked_.push_back(&global);
  SymScope outer_scope = std::exchange(scope_, {});
  auto outer_named = std::exchange(named_, {});
  const Context outer = std::exchange(context_, {});
  context_.at.copy = copy_number("in @" + global.definition.name);
  Family* const family = global.original.empty() ? nullptr : &globals_.find(global.original)->second.family;
  const bool outer_uncalled = std::exchange(uncalled_, global.uncalled);
  if (family != nullptr) family->running.push_back(global.running);
  settle_group(global, diagnostics_->all().size(), waiting_.size());
  global.state = Global::State::Done;
  uncalled_ = outer_uncalled;
  if (family != nullptr) family->running.pop_back();
  if (global.definition.exported) holes_.expose(global.typed->info->result);
  scope_ = std::move(outer_scope);
  named_ = std::move(outer_named);
  context_ = outer;
  walked_.pop_back();
  if (global.waits_for == kNobody) return;
  waiting_.push_back(&global);
  walked_.back()->waits_for = std::min(walked_.back()->waits_for, global.waits_for);
}

void Inference::settle_group(Global& global, size_t messages, size_t first_waiting) {
  const Function& f = *global.definition.function;
  const size_t supposed_outside = supposed_;
  while (true) {
    const size_t supposed_before = supposed_;
    global.typed = function(f, nullptr);
    const StructInfo result = global.typed->info->result;
    const bool wrong_somewhere = found_errors(messages);
    if (global.asked && !wrong_somewhere && suppose(global.result, result)) ++supposed_;
    if (global.waits_for < global.place) return;
    if (wrong_somewhere || supposed_ == supposed_before) break;
    diagnostics_->truncate(messages);
    global.waits_for = kNobody;
    for (size_t i = first_waiting; i < waiting_.size(); ++i) waiting_[i]->state = Global::State::New;
    waiting_.resize(first_waiting);
  }
  supposed_ = supposed_outside;
  global.waits_for = kNobody;
  for (size_t i = first_waiting; i < waiting_.size(); ++i) waiting_[i]->waits_for = kNobody;
  waiting_.resize(first_waiting);
  if (global.asked && global.typed->info->result == pending() && !again_) {
    diagnostics_->error(ErrorCode::WellFormedness, global.definition.span,
                        fmt::format("the result of the recursive @{} cannot be inferred", global.definition.name),
                        "annotate it: -> Tensor[...] behind the parameters", 8);
    global.typed->info = func_info(global.typed->info->fields, wrong(), f.pure);
  }
}

// Names that are not defined are found before inference; what depends on them is not looked at.
void Inference::refuse_undefined(const Span& use, const std::string& name) {
  if (before_ == 0 || !diagnostics_->has_errors())
    diagnostics_->error(ErrorCode::WellFormedness, use, fmt::format("{} is not defined", name), {}, 2);
}

void Inference::refuse_polymorphic(const std::string& name, const Span& use) {
  diagnostics_->error(ErrorCode::TypeError, use,
                      fmt::format("@{} is polymorphic, and nothing tells what its parameters are here", name),
                      "annotate its parameters, or wrap it: fn(%x: Tensor[...]) { @" + name + "(%x) }");
}

// What calls of a global function know of it: its annotations or, without a result annotation, what its body gives.
StructInfo Inference::signature(const std::string& name, const Span& use) {
  const auto found = globals_.find(name);
  if (found == globals_.end()) {
    refuse_undefined(use, "@" + name);
    return wrong();
  }
  Global& global = found->second;
  if (const auto& prim = global.definition.prim_func) {
    std::vector<StructInfo> params;
    for (uint32_t i = 0; i < prim->params; ++i)
      params.push_back(tensor_info(prim->buffers[i].dtype, prim->buffers[i].dims));
    for (const auto& scalar : prim->scalars) params.push_back(prim_info(scalar.var->dtype));
    return func_info(std::move(params), tuple_info({}), false);
  }
  const Function& f = *global.definition.function;
  if (global.polymorphic) {
    refuse_polymorphic(name, use);
    return wrong();
  }
  hold_shapes(f);
  std::vector<StructInfo> params;
  for (const auto& param : f.params) params.push_back(annotation_of(*param));
  if (f.result != nullptr) return func_info(std::move(params), resolved(f.result), f.pure);
  if (global.state == Global::State::New) complete(global);
  if (!walked_.empty()) {
    const size_t waits_for = global.state == Global::State::Running ? global.place : global.waits_for;
    walked_.back()->waits_for = std::min(walked_.back()->waits_for, waits_for);
  }
  if (global.state == Global::State::Done) return global.typed->info;
  global.asked = true;
  return func_info(std::move(params), global.result != nullptr ? global.result : pending(), f.pure);
}

void Inference::see(const StructInfo& info) {
  if (info != nullptr) for_each_binding_var(info, [&](const SymVar& var) { scope_.insert(var.get()); });
}

StructInfo Inference::in_scope(const StructInfo& info, SymScope::Mark scope) const {
  if (info == nullptr || mentions_unknown(info)) return info;
  return erase_vars(info, [&](const SymVar& var) { return scope_.contains(var.get(), scope) || holes_.owns(var); });
}

StructInfo Inference::annotation_of(const Var& param) const {
  if (param.annotation != nullptr) {
    const auto held = param.shape_symbol ? held_.find(param.shape_symbol.get()) : held_.end();
    return held != held_.end() ? shape_info(held->second) : resolved(param.annotation);
  }
  const auto solved = solved_.find(origin_of(param));
  return solved == solved_.end() ? nullptr : solved->second;
}

bool Inference::is_open(const Function& f) const {
  return !f.type_params.empty() ||
         std::ranges::any_of(f.params, [&](const VarRef& param) { return annotation_of(*param) == nullptr; });
}

// `generic` gets the shape variables that the parameters bind.
FunctionRef Inference::function(const Function& f, const Var* self, SymVars* generic) {
  const SymScope::Mark outer = scope_.mark();
  const Context outer_context = context_;
  const auto outer_named = named_.mark();
  context_.dataflow = false;
  context_.must_be_pure = f.pure && !has_flag(f.attrs, "force_pure") && !has_flag(f.attrs, "relax.force_pure");
  if (f.span.line != 0) context_.here = f.span;
  if (const Var* first = f.params.empty() ? self : f.params.front().get()) {
    context_.at = origin_of(*first);
    context_.uses = 0;
  }
  hold_shapes(f);
  const StructInfo annotated = resolved(f.result);
  SymVars bound;
  std::vector<StructInfo> params;
  for (const auto& param : f.params) {
    param->info = annotation_of(*param);
    if (param->info == nullptr) param->info = wrong();
    for_each_binding_var(param->info, [&](const SymVar& var) {
      if (!scope_.contains(var.get())) bound.insert(var.get());
    });
    params.push_back(param->info);
  }
  for (const auto& info : params) see(info);
  if (self != nullptr) {
    generic_[self] = bound;
    self->info = func_info(params, annotated != nullptr ? annotated : pending(), f.pure);
  }
  if (generic != nullptr) *generic = bound;
  const SymScope::Mark inside = scope_.mark();
  const size_t messages = diagnostics_->all().size();
  Expr body = sequence(*as<Seq>(f.body), annotated);
  // A local recursive function without result annotation is walked again once its other branches have told the result.
  StructInfo supposed;
  while (self != nullptr && asked_.contains(self) && !found_errors(messages) &&
         suppose(supposed, in_scope(body->info, inside))) {
    self->info = func_info(params, supposed, f.pure);
    diagnostics_->truncate(messages);
    scope_.leave(inside);
    body = sequence(*as<Seq>(f.body), nullptr);
  }
  const Span& written = as<Seq>(f.body)->result_span;
  const Span& span = written.line != 0 ? written : place(as<Seq>(body)->body->span);
  if (annotated != nullptr && !is_known(body->info)) {
    relate(body->info, annotated, span, "the result");
  } else if (annotated != nullptr) {
    expect(body->info, annotated, span, "the result");
    if (is_compatible(body->info, annotated) == Compatibility::Possibly) {
      const Seq& seq = *as<Seq>(body);
      std::vector<BindingBlock> blocks = seq.blocks;
      if (blocks.empty() || blocks.back().dataflow) blocks.push_back({false, {}});
      context_.into = &blocks.back().bindings;
      Expr checked = coerced(seq.body, annotated);
      if (is_compatible(checked->info, annotated) == Compatibility::Possibly)
        checked = bind_cast(checked, annotated, "");
      body = typed(std::make_shared<Seq>(std::move(blocks), std::move(checked), seq.span), annotated);
    }
  }
  const StructInfo result = annotated != nullptr ? annotated : in_scope(body->info, inside);
  body = with_relations(f, std::move(body));
  auto inferred = std::make_shared<Function>(f.params, std::move(body), annotated, f.pure, f.attrs, f.span);
  inferred->info = func_info(std::move(params), result, f.pure);
  scope_.leave(outer);
  context_ = outer_context;
  named_.leave(outer_named);
  return inferred;
}

// `expected` is what the context asks of the value, for literals; null where it asks nothing.
Expr Inference::sequence(const Seq& seq, const StructInfo& expected) {
  const SymScope::Mark outer = scope_.mark();
  const Context outer_context = context_;
  const auto outer_named = named_.mark();
  std::vector<BindingBlock> blocks;
  for (const auto& block : seq.blocks) {
    BindingBlock& inferred = blocks.emplace_back(BindingBlock{block.dataflow, {}});
    context_.dataflow = outer_context.dataflow || block.dataflow;
    const auto named_before = named_.mark();
    for (const auto& b : block.bindings) {
      context_.into = &inferred.bindings;
      if (b.span.line != 0) context_.here = b.span;
      context_.at = origin_of(*b.var);
      context_.uses = 0;
      // The last value of a sequence stands in the context of the sequence.
      const bool is_result = b.var.get() == as<Var>(seq.body);
      binding(b, is_result ? expected : nullptr);
    }
    if (block.dataflow && !outer_context.dataflow) named_.leave(named_before);
  }
  context_.dataflow = outer_context.dataflow;
  if (blocks.empty() || blocks.back().dataflow) blocks.push_back({false, {}});
  context_.into = &blocks.back().bindings;
  if (seq.result_span.line != 0) context_.here = seq.result_span;
  Expr body = leaf(seq.body, expected);
  // Functions with open parameters are replaced by their instances, values of literals by what their use asked for.
  for (auto& block : blocks) {
    std::vector<Binding> bindings;
    for (auto& b : block.bindings) {
      if (b.value != nullptr) {
        bindings.push_back(std::move(b));
        continue;
      }
      std::vector<Binding>* made = nullptr;
      if (const auto temp = open_temps_.find(b.var.get()); temp != open_temps_.end()) {
        if (!temp->second->settled) settle(*temp->second, nullptr);
        made = &temp->second->bindings;
      } else {
        const Local& local = *locals_.find(b.var.get())->second;
        if (local.instances.empty() && !local.escapes) check_uncalled(*local.function, local.family, local.scope);
        made = &locals_.find(b.var.get())->second->bindings;
      }
      bindings.insert(bindings.end(), made->begin(), made->end());
    }
    block.bindings = std::move(bindings);
  }
  std::erase_if(blocks, [](const BindingBlock& block) { return block.bindings.empty(); });
  StructInfo info = in_scope(holes_.resolve(body->info), outer);
  scope_.leave(outer);
  const uint32_t uses = context_.at == outer_context.at ? context_.uses : outer_context.uses;
  context_ = outer_context;
  context_.uses = uses;
  named_.leave(outer_named);
  return typed(std::make_shared<Seq>(std::move(blocks), std::move(body), seq.span), std::move(info));
}

namespace {

bool calls_itself(const Binding& b) {
  const std::vector<VarRef> free = free_vars(b.value);
  return std::ranges::find(free, b.var) != free.end();
}

}  // namespace

void Inference::binding(const Binding& b, const StructInfo& expected) {
  const StructInfo annotation = resolved(b.var->annotation);
  if (b.var->shape_symbol && (is_open_literal(b.value) || as<Function>(b.value) != nullptr)) {
    refuse_as_shape(*b.var, as<Function>(b.value) != nullptr ? "a function" : "a number");
    return;
  }
  if (b.cast != nullptr && annotation != nullptr &&
      is_compatible(resolved(b.cast), annotation) != Compatibility::Compatible) {
    // The annotation says more than the cast, or something else.
    const auto cast = std::make_shared<const Var>("", nullptr, b.var->dataflow, b.var->span);
    origin_[cast.get()] = origin_of(*b.var);
    binding({cast, b.value, b.cast, b.span}, nullptr);
    binding({b.var, cast, nullptr, b.span}, nullptr);
    return;
  }
  if (b.cast == nullptr && annotation == nullptr && is_open_literal(b.value)) {
    literals_[b.var.get()] = b.value;
    return;
  }
  if (b.cast == nullptr && annotation == nullptr && !b.var->shape_symbol && open_depth(b.value) < kDeepestOpen) {
    if (const auto decimal = open_class(b.value)) {
      open_temps_[b.var.get()] =
          std::make_unique<OpenTemp>(OpenTemp{b, *decimal, scope_.mark(), named_.mark(), open_depth(b.value), {}});
      context_.into->push_back({b.var, nullptr, nullptr, b.span});
      return;
    }
  }
  if (const auto* f = as<Function>(b.value); f != nullptr && annotation != nullptr) solve_params(*f, annotation);
  const Origin origin = origin_of(*b.var);
  if (const auto* f = as<Function>(b.value); f != nullptr && annotation != nullptr && is_open(*f)) {
    // What the annotation does not tell, the function's own variable stands for.
    const auto own = std::make_shared<const Var>(b.var->name, nullptr, b.var->dataflow, b.var->span);
    origin_[own.get()] = origin;
    b.var->info = annotation;
    binding({own, b.value, nullptr, b.span}, nullptr);
    binding({b.var, own, nullptr, b.span}, expected);
    return;
  }
  if (const auto* f = as<Function>(b.value); f != nullptr && (is_open(*f) || generalised_.contains(origin.var))) {
    locals_[b.var.get()] = std::make_unique<Local>(Local{
        f, b.var, scope_.mark(), context_.dataflow, {fmt::format("{}.{}", fmt::ptr(origin.var), origin.copy), {}, 0}});
    context_.into->push_back({b.var, nullptr, nullptr, b.span});
    return;
  }
  if (annotation == nullptr && b.cast == nullptr && !b.var->shape_symbol && is_late(b.value) && !is_open(b.value)) {
    aliases_[b.var.get()] = meant(b.value);
    return;
  }
  Binding result = b;
  result.cast = resolved(b.cast);
  const Context before = context_;
  const size_t messages = diagnostics_->all().size();
  result.value = value(b.value, annotation != nullptr ? annotation : b.cast == nullptr ? expected : nullptr, b);
  const StructInfo given = holes_.resolve(result.value->info);
  const bool known = is_known(given);
  const StructInfo wanted = b.cast != nullptr ? result.cast : annotation;
  if (known && wanted != nullptr) {
    const auto* f = as<Function>(b.value);
    if (f != nullptr && calls_itself(b) && is_passable_as(given, wanted) == Compatibility::Possibly) {
      diagnostics_->truncate(messages);
      context_ = before;
      const auto own = std::make_shared<const Var>(b.var->name, nullptr, b.var->dataflow, b.var->span);
      origin_[own.get()] = origin;
      copies_.push_back(std::make_shared<const Function>(reentrant(*f, own, b.var)));
      binding({own, copies_.back(), nullptr, b.span}, nullptr);
      binding({b.var, own, b.cast, b.span}, expected);
      return;
    }
    result.value = coerced(result.value, wanted);
  }
  if (b.cast != nullptr) {
    holes_.expose(given);
    if (known && is_compatible(given, result.cast) == Compatibility::Incompatible)
      diagnostics_->warning(ErrorCode::CastFailed, place(b.span),
                            fmt::format("match_cast of {} to {} never succeeds", to_text(given), to_text(result.cast)));
    see(result.cast);
    b.var->info = annotation != nullptr ? annotation : result.cast;
  } else if (annotation != nullptr) {
    if (known)
      expect(given, annotation, place(b.span), "%" + b.var->name);
    else
      relate(given, annotation, place(b.span), "%" + b.var->name);
    // What is not certain is checked at run time.
    if (known && is_compatible(result.value->info, annotation) == Compatibility::Possibly) result.cast = annotation;
    b.var->info = annotation;
    // Calls bind the variables of the annotation, not those of the function.
    generic_.erase(b.var.get());
  } else {
    b.var->info = given;
    // A function whose result is open is generalised as well.
    if (as<Function>(b.value) != nullptr && given->result != nullptr && is_open_result(given, {}))
      again_ = generalised_.insert(origin.var).second || again_;
  }
  const VarRef var = result.var;
  if (const Expr text = written(result.value); is_text(text)) texts_[var.get()] = text;
  context_.into->push_back(std::move(result));
  hold_shape(var);
}

// A variable that holds the value after a match_cast.
VarRef Inference::bind_value(const Expr& value, const std::string& name) {
  const auto var = std::make_shared<const Var>(name, nullptr, context_.dataflow, value->span);
  var->info = value->info;
  context_.into->push_back({var, value, nullptr, place(value->span)});
  return var;
}

VarRef Inference::bind_cast(const Expr& value, const StructInfo& cast, const std::string& name) {
  const auto var = std::make_shared<const Var>(name, nullptr, context_.dataflow, value->span);
  var->info = cast;
  see(cast);
  context_.into->push_back({var, value, cast, place(value->span)});
  return var;
}

}  // namespace ingot::analysis
