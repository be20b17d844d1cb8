#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/effects.h"
#include "compiler/ir/visitor.h"
#include "compiler/transform/fuse_loops.h"
#include "compiler/transform/inline_buffers.h"
#include "compiler/transform/merge_calls.h"
#include "compiler/transform/prim_func_table.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/text.h"

namespace ingot::transform {
namespace {

using namespace ir;

// A kernel with more operands gains nothing from yet another.
constexpr size_t kMostInputs = 24;
constexpr size_t kMostMembers = 32;
constexpr size_t kLongestName = 48;

// The loops that run one after the other.
size_t count_nests(const tir::PrimFunc& func) {
  return static_cast<size_t>(std::ranges::count_if(
      func.body, [](const tir::Stmt& stmt) { return !std::holds_alternative<tir::Allocate>(stmt->node); }));
}

bool has_loops(const tir::PrimFunc& func) {
  return std::ranges::any_of(func.body,
                             [](const tir::Stmt& stmt) { return std::holds_alternative<tir::For>(stmt->node); });
}

// Does a function write its output whole? Found once for each.
using WholeWriters = std::map<const tir::PrimFunc*, bool>;

class SequenceFuser {
 public:
  // `uses` are those in the whole function.
  SequenceFuser(const Module& module, const Uses& uses, PrimFuncTable& table, WholeWriters& whole)
      : module_(&module), uses_(&uses), table_(&table), whole_(&whole) {}

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
    std::vector<Candidate> candidates;
    for (auto& block : blocks)
      for (auto& binding : block.bindings) {
        if (binding.var == nullptr || binding.cast != nullptr) continue;
        auto call = as_tir_call(*module_, binding.value);
        if (call && has_loops(*call->func) && is_total(*call)) candidates.push_back({&binding, *std::move(call)});
      }
    positions_.clear();
    for (size_t i = 0; i < candidates.size(); ++i) positions_.emplace(candidates[i].binding->var.get(), i);
    for (size_t root = candidates.size(); root-- > 0;)
      if (!candidates[root].taken) fuse(candidates, root);
  }

  bool writes_whole(const tir::PrimFuncRef& func) {
    auto [entry, is_new] = whole_->try_emplace(func.get(), false);
    if (is_new) entry->second = tir::writes_whole(*func, func->params - 1);
    return entry->second;
  }

  // Grows the group of a call upwards, as long as the whole stays one nest of loops.
  void fuse(std::vector<Candidate>& candidates, size_t root) {
    std::vector<size_t> group = {root};
    const Var* result = candidates[root].binding->var.get();
    const Member alone[] = {{result, &candidates[root].call}};
    TirCall best = merged_call(alone);
    size_t nests = count_nests(*best.func);
    std::unordered_set<size_t> refused;
    for (bool grown = true; grown && group.size() < kMostMembers;) {
      grown = false;
      for (const size_t producer : producers(candidates, group, best)) {
        if (refused.contains(producer)) continue;
        const Member members[] = {{candidates[producer].binding->var.get(), &candidates[producer].call},
                                  {result, &best}};
        TirCall merged = merged_call(members);
        const size_t merged_nests = count_nests(*merged.func);
        if (merged_nests > nests || merged.inputs.size() > kMostInputs) {
          refused.insert(producer);
          continue;
        }
        group.push_back(producer);
        best = std::move(merged);
        nests = merged_nests;
        grown = true;
        break;
      }
    }
    replace(candidates, group, best);
  }

  static TirCall merged_call(std::span<const Member> members) {
    TirCall merged = merge(members);
    merged.func = std::make_shared<const tir::PrimFunc>(fuse_loops(inline_buffers(*merged.func)));
    return merged;
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
    auto func = std::make_shared<tir::PrimFunc>(*call.func);
    func->name = name_of(candidates, group);
    tir::check(*func);
    if (group.size() == 1 && tir::same_func(*func, *candidates[group[0]].call.func)) return;
    binding.value = tir_call(table_->add(std::move(func), call.span), call.inputs, call.scalars, {call.output},
                             binding.value->info, call.span);
  }

  const Module* module_;
  const Uses* uses_;
  PrimFuncTable* table_;
  WholeWriters* whole_;
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
  if (analysis::writes_tensors(module)) return module;
  Module result = module;
  PrimFuncTable table(result);
  WholeWriters whole;
  for (const auto& definition : module.definitions()) {
    if (definition.function == nullptr) continue;
    Definition made = definition;
    const Uses uses = count_uses(definition.function);
    made.function = rewrite_sequences(definition.function, [&](std::vector<BindingBlock>& blocks, Expr&) {
      SequenceFuser(module, uses, table, whole)(blocks);
    });
    result.set(std::move(made));
  }
  drop_unused(result, module);
  return result;
}

}  // namespace ingot::transform
