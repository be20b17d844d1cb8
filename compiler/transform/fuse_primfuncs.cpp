#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/writes.h"
#include "compiler/ir/visitor.h"
#include "compiler/transform/merge_cache.h"
#include "compiler/transform/prim_func_table.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/same_func.h"

namespace ingot::transform {
namespace {

using namespace ir;

// A kernel with more operands gains nothing from yet another.
constexpr size_t kMostInputs = 24;
constexpr size_t kMostMembers = 32;
constexpr size_t kLongestName = 48;

bool has_loops(const tir::PrimFunc& func) {
  return std::ranges::any_of(func.body,
                             [](const tir::Stmt& stmt) { return std::holds_alternative<tir::For>(stmt->node); });
}

// What is found once for all functions of a module.
struct Known {
  explicit Known(Module& module) : table(module) {}

  PrimFuncTable table;
  MergeCache merges;
  std::map<const tir::PrimFunc*, bool> whole;  // does it write its output whole?
  // By merged function, which `merges` owns, and name: what it is called in the module.
  std::map<std::pair<const tir::PrimFunc*, std::string>, std::string> names;
};

class SequenceFuser {
 public:
  // `uses` and `writes` are those in the whole function.
  SequenceFuser(const Module& module, const Uses& uses, analysis::Writes& writes, Known& known)
      : module_(&module), uses_(&uses), writes_(&writes), known_(&known) {}

  void operator()(std::vector<BindingBlock>& blocks) {
    for_each_scope(blocks, [&](std::span<BindingBlock> scope) { this->scope(scope); });
    for (auto& block : blocks)
      std::erase_if(block.bindings, [&](const Binding& binding) { return swallowed_.contains(binding.var.get()); });
  }

 private:
  struct Candidate {
    Binding* binding;
    TirCall call;
    bool taken = false;
  };

  void scope(std::span<BindingBlock> blocks) {
    writes_->enter(blocks);
    std::vector<Candidate> candidates;
    for (auto& block : blocks)
      for (auto& binding : block.bindings) {
        if (binding.var == nullptr || binding.cast != nullptr) continue;
        auto call = as_tir_call(*module_, binding.value);
        if (call && has_loops(*call->func) && known_->merges.is_total(*call))
          candidates.push_back({&binding, *std::move(call)});
      }
    positions_.clear();
    for (size_t i = 0; i < candidates.size(); ++i) positions_.emplace(candidates[i].binding->var.get(), i);
    for (size_t root = candidates.size(); root-- > 0;)
      if (!candidates[root].taken) fuse(candidates, root);
  }

  bool writes_whole(const tir::PrimFuncRef& func) {
    auto [entry, is_new] = known_->whole.try_emplace(func.get(), false);
    if (is_new) entry->second = tir::writes_whole(*func, func->params - 1);
    return entry->second;
  }

  // Grows the group of a call upwards, as long as the whole stays one nest of loops. Numbers come inside at the end, so
  // that groups which differ in them alone grow alike.
  void fuse(std::vector<Candidate>& candidates, size_t root) {
    std::vector<size_t> group = {root};
    const Var* result = candidates[root].binding->var.get();
    const Member alone[] = {{result, &candidates[root].call}};
    auto best = *known_->merges.merged(alone, Numbers::AsInputs, SIZE_MAX);
    std::unordered_set<size_t> refused;
    for (bool grown = true; grown && group.size() < kMostMembers;) {
      grown = false;
      for (const size_t producer : producers(candidates, group, best.call)) {
        if (refused.contains(producer) || !may_move(candidates[producer], candidates[root])) continue;
        const Member members[] = {{candidates[producer].binding->var.get(), &candidates[producer].call},
                                  {result, &best.call}};
        auto merged = known_->merges.merged(members, Numbers::AsInputs, kMostInputs);
        if (!merged || merged->nests > best.nests) {
          refused.insert(producer);
          continue;
        }
        group.push_back(producer);
        best = *std::move(merged);
        grown = true;
        break;
      }
    }
    const Member whole[] = {{result, &best.call}};
    replace(candidates, group, known_->merges.merged(whole, Numbers::Inside, SIZE_MAX)->call);
  }

  // Would a call read the same where another one stands?
  bool may_move(const Candidate& from, const Candidate& to) const {
    return std::ranges::none_of(
        from.call.inputs, [&](const Expr& input) { return writes_->may_change(*from.binding, *to.binding, input); });
  }

  // Calls whose result only the group uses, the last one first.
  std::vector<size_t> producers(const std::vector<Candidate>& candidates, const std::vector<size_t>& group,
                                const TirCall& merged) {
    std::vector<size_t> found;
    for (const Expr& input : merged.inputs) {
      const auto* var = as<Var>(input);
      const auto at = var == nullptr ? positions_.end() : positions_.find(var);
      if (at == positions_.end() || candidates[at->second].taken) continue;
      size_t inside = 0;
      for (const size_t member : group)
        inside += static_cast<size_t>(std::ranges::count_if(candidates[member].call.inputs,
                                                            [&](const Expr& e) { return e.get() == input.get(); }));
      if (inside == uses_->at(var) && writes_whole(candidates[at->second].call.func)) found.push_back(at->second);
    }
    std::ranges::sort(found, std::greater());
    return found;
  }

  // The names of the functions in the order of the calls, or of the first and the last one.
  static std::string name_of(const std::vector<Candidate>& candidates, std::vector<size_t> group) {
    std::ranges::sort(group);
    std::string joined;
    for (const size_t i : group) joined += (joined.empty() ? "" : "_") + candidates[i].call.func->name;
    if (joined.size() <= kLongestName) return joined;
    return candidates[group.front()].call.func->name + "_to_" + candidates[group.back()].call.func->name;
  }

  void replace(std::vector<Candidate>& candidates, const std::vector<size_t>& group, const TirCall& call) {
    Binding& binding = *candidates[group.front()].binding;
    for (const size_t i : group) {
      candidates[i].taken = true;
      if (i != group.front()) swallowed_.insert(candidates[i].binding->var.get());
    }
    const auto [known, is_new] = known_->names.try_emplace({call.func.get(), name_of(candidates, group)});
    if (is_new) {
      auto func = std::make_shared<tir::PrimFunc>(*call.func);
      func->name = known->first.second;
      tir::check(*func);
      const bool changed = group.size() > 1 || !tir::same_func(*func, *candidates[group[0]].call.func);
      if (changed) known->second = known_->table.add(std::move(func), call.span);
    }
    // Without a name it is the function that is called already.
    if (known->second.empty()) return;
    binding.value = tir_call(known->second, call.inputs, call.scalars, {call.output}, binding.value->info, call.span);
  }

  const Module* module_;
  const Uses* uses_;
  analysis::Writes* writes_;
  Known* known_;
  std::unordered_map<const Var*, size_t> positions_;
  std::unordered_set<const Var*> swallowed_;
};

// Functions that were called before and are not any more.
void drop_unused(Module& module, const Module& before) {
  const auto named_in = [](const Module& from) {
    std::unordered_set<std::string> names;
    const std::function<void(const Expr&)> visit = [&](const Expr& e) {
      if (const auto* global = as<GlobalVar>(e)) names.insert(global->name);
      for_each_child(e, visit);
    };
    for (const auto& definition : from.definitions())
      if (definition.function != nullptr) visit(definition.function);
    return names;
  };
  const auto after = named_in(module);
  for (const auto& name : named_in(before)) {
    const auto* definition = module.find(name);
    if (definition != nullptr && definition->prim_func != nullptr && !definition->exported && !after.contains(name))
      module.erase(name);
  }
}

}  // namespace

Module fuse_primfuncs(Module module, PassContext&) {
  const bool writes_tensors = analysis::writes_tensors(module);
  Module result = module;
  Known known(result);
  for (const auto& definition : module.definitions()) {
    if (definition.function == nullptr) continue;
    Definition made = definition;
    const Uses uses = count_uses(definition.function);
    analysis::Writes writes(writes_tensors, definition.function);
    made.function = rewrite_sequences(definition.function, [&](std::vector<BindingBlock>& blocks, Expr&) {
      SequenceFuser(module, uses, writes, known)(blocks);
    });
    result.set(std::move(made));
  }
  drop_unused(result, module);
  return result;
}

}  // namespace ingot::transform
