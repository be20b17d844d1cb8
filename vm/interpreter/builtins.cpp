#include "vm/builtins/builtins.h"

#include "vm/interpreter/instructions.h"
#include "vm/interpreter/small_array.h"

namespace ingot::vm {

Slot call_builtin(Machine& m, uint16_t builtin, const Slot* registers, std::span<const Register> args) {
  SmallArray<Slot, 8> slots(args.size());
  for (size_t i = 0; i < args.size(); ++i) slots[i] = registers[args[i]];
  return builtins::call(static_cast<Builtin>(builtin), &m.pool, slots).detach();
}

}  // namespace ingot::vm
