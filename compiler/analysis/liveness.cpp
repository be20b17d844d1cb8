#include "compiler/analysis/liveness.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/analysis/free_vars.h"

namespace ingot::analysis {
namespace {

using ir::Var;
using LiveSet = std::unordered_set<const Var*>;

class Walk {
 public:
  explicit Walk(Liveness& result) : result_(result) {}

  // `live` holds what is alive behind the sequence and becomes what is alive before it.
  void sequence(const ir::Seq& seq, LiveSet& live) {
    use(free_vars(seq.body), live, result_.dies_at_body[&seq]);
    for (auto block = seq.blocks.rbegin(); block != seq.blocks.rend(); ++block)
      for (auto binding = block->bindings.rbegin(); binding != block->bindings.rend(); ++binding)
        this->binding(*binding, live);
  }

 private:
  void binding(const ir::Binding& binding, LiveSet& live) {
    auto& dies = result_.dies_at[&binding];
    if (binding.var != nullptr && live.erase(binding.var.get()) == 0) dies.push_back(binding.var.get());
    if (const auto* branch = ir::as<ir::If>(binding.value)) {
      LiveSet then_live = live;
      LiveSet else_live = std::move(live);
      const auto* then_seq = ir::as<ir::Seq>(branch->then_branch);
      const auto* else_seq = ir::as<ir::Seq>(branch->else_branch);
      sequence(*then_seq, then_live);
      sequence(*else_seq, else_live);
      difference(else_live, then_live, result_.dies_at_entry[then_seq]);
      difference(then_live, else_live, result_.dies_at_entry[else_seq]);
      live = std::move(then_live);
      live.insert(else_live.begin(), else_live.end());
      use(free_vars(branch->condition), live, dies);
    } else {
      use(free_vars(binding.value), live, dies);
    }
  }

  static void difference(const LiveSet& of, const LiveSet& without, std::vector<const Var*>& result) {
    for (const Var* var : of)
      if (!without.contains(var)) result.push_back(var);
  }

  static void use(const std::vector<ir::VarRef>& vars, LiveSet& live, std::vector<const Var*>& dies) {
    for (const auto& var : vars)
      if (live.insert(var.get()).second) dies.push_back(var.get());
  }

  Liveness& result_;
};

}  // namespace

Liveness find_liveness(const ir::Function& function) {
  Liveness result;
  LiveSet live;
  Walk(result).sequence(*ir::as<ir::Seq>(function.body), live);
  for (const auto& param : function.params)
    if (!live.contains(param.get())) result.unused_params.push_back(param.get());
  return result;
}

}  // namespace ingot::analysis
