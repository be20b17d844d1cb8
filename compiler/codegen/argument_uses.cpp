#include "compiler/codegen/argument_uses.h"

#include <algorithm>

namespace ingot::codegen {

using namespace ir;

namespace {

bool is_function_call(const Call* call) {
  return call != nullptr && as<OpExpr>(call->callee) == nullptr && as<ExternFunc>(call->callee) == nullptr;
}

class Walk {
 public:
  explicit Walk(const analysis::Liveness& liveness) : liveness_(liveness) {}

  ArgumentUses run(const Function& function) {
    sequence(*as<Seq>(function.body), true);
    for (const auto& [var, call] : results_)
      if (const auto use = uses_.of.find(var); use != uses_.of.end()) uses_.of_result.emplace(call, use->second);
    return std::move(uses_);
  }

 private:
  void sequence(const Seq& seq, bool tail) {
    for (const auto& block : seq.blocks)
      for (const auto& binding : block.bindings) {
        const bool is_last = &block == &seq.blocks.back() && &binding == &block.bindings.back();
        const bool is_result = tail && is_last && binding.var != nullptr && binding.var.get() == as<Var>(seq.body);
        if (const auto* branch = as<If>(binding.value)) {
          sequence(*as<Seq>(branch->then_branch), is_result);
          sequence(*as<Seq>(branch->else_branch), is_result);
        } else if (const auto* call = as<Call>(binding.value); is_function_call(call)) {
          this->call(binding, *call, is_result);
        }
      }
  }

  void call(const Binding& binding, const Call& call, bool tail) {
    if (tail) uses_.tail.insert(&call);
    if (binding.var != nullptr) results_.emplace(binding.var.get(), &call);
    const auto& dies = liveness_.dies_at.at(&binding);
    for (size_t i = 0; i < call.args.size(); ++i) {
      const auto* var = as<Var>(call.args[i]);
      if (var == nullptr || std::find(dies.begin(), dies.end(), var) == dies.end()) continue;
      uses_.of.insert_or_assign(var, ArgumentUse{&call, i});
    }
  }

  const analysis::Liveness& liveness_;
  ArgumentUses uses_;
  std::unordered_map<const Var*, const Call*> results_;
};

}  // namespace

ArgumentUses find_argument_uses(const Function& function, const analysis::Liveness& liveness) {
  return Walk(liveness).run(function);
}

}  // namespace ingot::codegen
