#include <algorithm>

#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"

namespace ingot::transform {
namespace {

using namespace ir;

// Does nothing be seen but the value?
bool is_total(const Binding& binding) {
  if (binding.cast != nullptr) return false;
  const Expr& value = binding.value;
  if (is_leaf(value) || as<Function>(value) != nullptr) return true;
  // A projection of a tuple whose fields are known cannot fail.
  if (const auto* item = as<TupleGetItem>(value))
    return item->tuple->info != nullptr && item->tuple->info->kind == InfoKind::Tuple;
  const Op* op = called_op(value);
  return op != nullptr && op->effect(*Site(*as<Call>(value))) == Effect::Total;
}

}  // namespace

Module eliminate_dead(Module module, PassContext&) {
  return rewrite_functions(module, [](const FunctionRef& function) {
    Uses uses = count_uses(function);
    // Inner sequences come first, so what only they used is dead when the outer one is looked at.
    return rewrite_sequences(function, [&](std::vector<BindingBlock>& blocks, Expr&) {
      for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
        std::vector<Binding> kept;
        for (auto binding = block->bindings.rbegin(); binding != block->bindings.rend(); ++binding) {
          const bool used = binding->var != nullptr && uses[binding->var.get()] != 0;
          if (used || !is_total(*binding)) {
            kept.push_back(std::move(*binding));
            continue;
          }
          for (const auto& [var, count] : count_uses(binding->value)) uses[var] -= count;
        }
        std::ranges::reverse(kept);
        block->bindings = std::move(kept);
      }
    });
  });
}

}  // namespace ingot::transform
