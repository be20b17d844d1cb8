#include <algorithm>

#include "compiler/analysis/effects.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"

namespace ingot::transform {

using namespace ir;

Module eliminate_dead(Module module, PassContext&) {
  return rewrite_functions(module, [](const FunctionRef& function) {
    Uses uses = count_uses(function);
    // Inner sequences come first, so what only they used is dead when the outer one is looked at.
    return rewrite_sequences(function, [&](std::vector<BindingBlock>& blocks, Expr&) {
      for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
        std::vector<Binding> kept;
        for (auto binding = block->bindings.rbegin(); binding != block->bindings.rend(); ++binding) {
          const bool used = binding->var != nullptr && uses[binding->var.get()] != 0;
          if (used || analysis::effect_of(*binding) != Effect::Total) {
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
