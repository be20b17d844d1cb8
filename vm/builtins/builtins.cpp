#include "vm/builtins/builtins.h"

namespace ingot::vm::builtins {
namespace {

constexpr Value (*kFunctions[])(const Args&) = {
#define BUILTIN(name, min_args, max_args, meaning) name,
#include "vm/isa/builtins.def"
};

}  // namespace

Value call(Builtin builtin, ObjectPool* pool, std::span<const Slot> slots) {
  const auto number = static_cast<size_t>(builtin);
  const Args args(kBuiltins[number].name, pool, slots);
  if (slots.size() < kBuiltins[number].min_args || slots.size() > kBuiltins[number].max_args)
    args.fail(ErrorCode::ArityMismatch, "{} arguments are given, {} to {} are possible", slots.size(),
              kBuiltins[number].min_args, kBuiltins[number].max_args);
  return kFunctions[number](args);
}

}  // namespace ingot::vm::builtins
