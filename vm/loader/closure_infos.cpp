#include "vm/loader/closure_infos.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/object/objects.h"

namespace ingot::vm {
namespace {

// Of the check that takes the parameters and all captures; none where the function has none such.
std::vector<StructInfo> captures_of(const Function& function) {
  for (const Check& check : function.checks) {
    const auto& fields = check.info->fields;
    if (check.info->kind != InfoKind::Tuple || fields.size() != size_t{function.params} + function.captures) continue;
    return {fields.begin() + function.params, fields.end()};
  }
  return {};
}

bool mentions_bound(const StructInfo& signature, const std::vector<StructInfo>& captures) {
  std::unordered_set<const SymVarNode*> bound;
  for (const StructInfo& info : captures)
    for_each_binding_var(info, [&](const SymVar& var) { bound.insert(var.get()); });
  bool found = false;
  for_each_var(signature, [&](const SymVar& var) { found |= bound.contains(var.get()); });
  return found;
}

}  // namespace

ClosureInfos::ClosureInfos(const Program& program) : program_(&program), captures_(program.functions.size()) {
  for (size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    if (function.captures == 0) continue;
    std::vector<StructInfo> captures = captures_of(function);
    if (mentions_bound(function.signature, captures)) captures_[i] = std::move(captures);
  }
}

StructInfo ClosureInfos::of(const Slot& closure) const {
  const auto& object = *static_cast<const ClosureObject*>(closure.object);
  const StructInfo& signature = program_->functions[object.function].signature;
  const std::vector<StructInfo>& infos = captures_[object.function];
  if (infos.empty()) return signature;
  SymValues captured;
  const std::span<const Slot> values = object.captures();
  for (size_t i = 0; i < std::min(values.size(), infos.size()); ++i) bind_dims(values[i], infos[i], captured);
  return closure_info(signature, captured);
}

}  // namespace ingot::vm
