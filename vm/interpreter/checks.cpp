#include "vm/interpreter/instructions.h"
#include "vm/interpreter/small_array.h"

namespace ingot::vm {
namespace {

using Numbers = SmallArray<int64_t, 16>;

// The variables that the check reads; those that it binds are written by it.
void load_vars(const CompiledCheck& check, const Slot* registers, std::span<const Register> vars, Numbers& numbers) {
  for (size_t i = 0; i < vars.size(); ++i) numbers[i] = check.binds(i) ? 0 : registers[vars[i]].as<int64_t>();
}

void store_vars(const CompiledCheck& check, Slot* registers, std::span<const Register> vars, Numbers& numbers) {
  for (size_t i = 0; i < vars.size(); ++i)
    if (check.binds(i)) put(registers[vars[i]], slot_head(Kind::Prim, DType::Int64), payload_bits(numbers[i]));
}

// Apart, so that functions without bounds pay one comparison.
[[gnu::noinline]] void check_bounds(const LinkedFunction& function, uint32_t index, Numbers& numbers) {
  for (const LinkedBound& bound : function.bounds) {
    if (numbers[bound.var] <= bound.most) continue;
    std::vector<std::string> names;
    for_each_var(function.source->checks[index].info, [&](const SymVar& var) { names.push_back(var->name); });
    fail(ErrorCode::ShapeMismatch,
         "@{0}: dimension {1} is {2}, the executable was compiled for at most {3}; compile it with --bound {1}={2}",
         function.source->name, names[bound.var], numbers[bound.var], bound.most);
  }
}

}  // namespace

void check_params(Machine&, const Frame& frame, uint32_t index, Slot* registers, std::span<const Register> vars) {
  const LinkedFunction& function = *frame.function;
  const CompiledCheck& check = function.checks[index];
  Numbers numbers(vars.size());
  load_vars(check, registers, vars, numbers);
  if (!check.matches_fields(registers, numbers)) {
    load_vars(check, registers, vars, numbers);
    const Function& source = *function.source;
    check.refuse_fields(registers, numbers, source.param_names, source.params, exported_name(source));
  }
  if (!function.bounds.empty()) check_bounds(function, index, numbers);
  store_vars(check, registers, vars, numbers);
}

void check_value(const LinkedFunction& function, const Slot& value, uint32_t index, Slot* registers,
                 std::span<const Register> vars) {
  const CompiledCheck& check = function.checks[index];
  Numbers numbers(vars.size());
  load_vars(check, registers, vars, numbers);
  if (!check.matches(value, numbers)) {
    load_vars(check, registers, vars, numbers);
    check.refuse(value, numbers);
  }
  store_vars(check, registers, vars, numbers);
}

}  // namespace ingot::vm
