#include "compiler/evaluator/builtins.h"

#include <vector>

#include "runtime/base/error.h"
#include "vm/builtins/builtins.h"

namespace ingot::evaluator {
Value call_builtin(std::string_view name, std::span<const Value> args) {
  const auto builtin = vm::find_builtin(name);
  if (!builtin) fail(ErrorCode::TypeError, "call_builtin: there is no builtin {}", name);
  std::vector<Slot> slots;
  for (const Value& arg : args) slots.push_back(arg.slot());
  return vm::builtins::call(*builtin, nullptr, slots);
}

}  // namespace ingot::evaluator
