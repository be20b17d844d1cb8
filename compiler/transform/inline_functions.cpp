#include <algorithm>
#include <numeric>

#include "compiler/analysis/call_graph.h"
#include "compiler/analysis/effects.h"
#include "compiler/ir/visitor.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"

namespace ingot::transform {
namespace {

using namespace ir;

// Bindings of a function, inner ones included, up to which a copy costs no more than the call.
constexpr size_t kMostBindings = 12;

bool has_vars(const StructInfo& info) {
  bool found = false;
  if (info != nullptr) for_each_var(info, [&](const SymVar&) { found = true; });
  return found;
}

struct Body {
  size_t bindings = 0;
  bool total = true;
  bool branches = false;
};

void look_at(const Seq& seq, Body& body) {
  for (const auto& block : seq.blocks)
    for (const auto& binding : block.bindings) {
      ++body.bindings;
      const auto* branch = as<If>(binding.value);
      body.total &= branch != nullptr
                        ? !analysis::is_checked(binding)
                        : binding.value->kind != ExprKind::Function && analysis::effect_of(binding) == Effect::Total;
      if (branch != nullptr) {
        body.branches = true;
        look_at(*as<Seq>(branch->then_branch), body);
        look_at(*as<Seq>(branch->else_branch), body);
      }
    }
}

Body body_of(const Function& function) {
  Body body;
  look_at(*as<Seq>(function.body), body);
  return body;
}

// Only what cannot fail is copied, so that no backtrace misses a frame; and only what has no dimensions of its own to
// bind.
bool is_inlinable(const Function& function) {
  const auto noinline = function.attrs.find("noinline");
  if (noinline != function.attrs.end()) {
    const bool* set = std::get_if<bool>(&noinline->second);
    if (set == nullptr || *set) return false;
  }
  if (!function.type_params.empty()) return false;
  for (const auto& param : function.params)
    if (has_vars(param->info)) return false;
  const Expr& result = as<Seq>(function.body)->body;
  if (function.result != nullptr && is_compatible(result->info, function.result) != Compatibility::Compatible)
    return false;
  const Body body = body_of(function);
  return body.total && body.bindings <= kMostBindings;
}

bool accepts(const Function& function, const Call& call) {
  if (call.args.size() != function.params.size()) return false;
  for (size_t i = 0; i < call.args.size(); ++i)
    if (is_compatible(call.args[i]->info, function.params[i]->info) != Compatibility::Compatible) return false;
  return true;
}

using Functions = std::map<std::string, FunctionRef, std::less<>>;

// Copies bodies into the sequences of one function.
class Inliner {
 public:
  explicit Inliner(const Functions& functions) : functions_(functions) {}

  FunctionRef run(const FunctionRef& function) {
    find_closures(function);
    return rewrite_sequences(function, [this](std::vector<BindingBlock>& blocks, Expr&) {
      for (auto& block : blocks) {
        std::vector<Binding> bindings;
        for (auto& binding : block.bindings) {
          const Function* callee = callee_of(binding, block.dataflow);
          if (callee == nullptr) {
            bindings.push_back(std::move(binding));
          } else {
            inline_call(*callee, binding, block.dataflow, bindings);
          }
        }
        block.bindings = std::move(bindings);
      }
    });
  }

 private:
  // Where a closure's variable is visible, so is what the closure captures.
  void find_closures(const Expr& e) {
    if (const auto* seq = as<Seq>(e))
      for (const auto& block : seq->blocks)
        for (const auto& binding : block.bindings)
          if (const auto* f = as<Function>(binding.value); f != nullptr && is_inlinable(*f))
            closures_[binding.var.get()] = f;
    if (e->kind == ExprKind::Seq || e->kind == ExprKind::If || e->kind == ExprKind::Function)
      for_each_child(e, [this](const Expr& child) { find_closures(child); });
  }

  const Function* callee_of(const Binding& binding, bool dataflow) const {
    const auto* call = as<Call>(binding.value);
    if (call == nullptr || binding.cast != nullptr) return nullptr;
    const Function* callee = nullptr;
    if (const auto* global = as<GlobalVar>(call->callee)) {
      const auto found = functions_.find(global->name);
      if (found != functions_.end()) callee = found->second.get();
    } else if (const auto* var = as<Var>(call->callee)) {
      const auto found = closures_.find(var);
      if (found != closures_.end()) callee = found->second;
    }
    if (callee == nullptr || !accepts(*callee, *call)) return nullptr;
    // Dataflow blocks hold no control flow.
    return dataflow && body_of(*callee).branches ? nullptr : callee;
  }

  void inline_call(const Function& callee, const Binding& binding, bool dataflow, std::vector<Binding>& into) {
    const auto& call = *as<Call>(binding.value);
    for (size_t i = 0; i < call.args.size(); ++i) {
      Expr arg = call.args[i];
      if (as<Tuple>(arg) != nullptr) {
        const VarRef made = fresh(*callee.params[i], dataflow);
        into.push_back({made, std::move(arg), nullptr, binding.span});
        arg = made;
      }
      replaced_[callee.params[i].get()] = std::move(arg);
    }
    const auto& seq = *as<Seq>(callee.body);
    const auto* result = as<Var>(seq.body);
    bool is_bound = false;
    for (const auto& block : seq.blocks)
      for (const auto& inner : block.bindings) {
        Expr value = copy(inner.value, dataflow);
        const bool is_last = &block == &seq.blocks.back() && &inner == &block.bindings.back();
        is_bound = is_last && inner.var.get() == result;
        const VarRef var = is_bound ? binding.var : fresh(*inner.var, dataflow);
        replaced_[inner.var.get()] = var;
        into.push_back({var, std::move(value), nullptr, inner.span});
      }
    if (!is_bound) into.push_back({binding.var, copy(seq.body, dataflow), nullptr, binding.span});
  }

  static VarRef fresh(const Var& like, bool dataflow) {
    auto var = std::make_shared<Var>(like.name, nullptr, dataflow, like.span);
    var->info = like.info;
    return var;
  }

  Expr copy(const Expr& e, bool dataflow) {
    if (const auto* var = as<Var>(e)) {
      const auto found = replaced_.find(var);
      return found == replaced_.end() ? e : found->second;
    }
    const auto* seq = as<Seq>(e);
    if (seq == nullptr) return map_children(e, [&](const Expr& child) { return copy(child, dataflow); });
    std::vector<BindingBlock> blocks;
    for (const auto& block : seq->blocks) {
      BindingBlock& made = blocks.emplace_back(BindingBlock{block.dataflow, {}});
      for (const auto& binding : block.bindings) {
        Expr value = copy(binding.value, block.dataflow);
        const VarRef var = fresh(*binding.var, binding.var->dataflow);
        replaced_[binding.var.get()] = var;
        made.bindings.push_back({var, std::move(value), nullptr, binding.span});
      }
    }
    return typed(std::make_shared<Seq>(std::move(blocks), copy(seq->body, dataflow), seq->span), seq->info);
  }

  const Functions& functions_;
  std::unordered_map<const Var*, const Function*> closures_;
  std::unordered_map<const Var*, Expr> replaced_;
};

}  // namespace

Module inline_functions(Module module, PassContext&) {
  const analysis::CallGraph graph = analysis::build_call_graph(module);
  // Callees first, so that what they call is part of them already.
  std::vector<size_t> order(module.definitions().size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return graph.component[i]; });
  Functions functions;
  Module result = module;
  for (const size_t i : order) {
    Definition definition = module.definitions()[i];
    if (definition.function == nullptr) continue;
    definition.function = Inliner(functions).run(definition.function);
    if (is_inlinable(*definition.function)) functions.emplace(definition.name, definition.function);
    result.set(std::move(definition));
  }
  return result;
}

}  // namespace ingot::transform
