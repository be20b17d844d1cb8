#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

// The numbers, names and arities of the builtins; the interpreter has their code. See builtins.def.
namespace ingot::vm {

enum class Builtin : uint16_t {
#define BUILTIN(name, min_args, max_args, meaning) name,
#include "vm/isa/builtins.def"
};

struct BuiltinInfo {
  std::string_view name;
  uint16_t min_args;
  uint16_t max_args;
  std::string_view meaning;
};

inline constexpr BuiltinInfo kBuiltins[] = {
#define BUILTIN(name, min_args, max_args, meaning) {#name, min_args, max_args, meaning},
#include "vm/isa/builtins.def"
};
inline constexpr size_t kBuiltinCount = std::size(kBuiltins);
static_assert(kBuiltinCount <= UINT16_MAX);

inline constexpr uint16_t kAnyArgs = UINT16_MAX;

constexpr std::optional<Builtin> find_builtin(std::string_view name) {
  for (size_t i = 0; i < kBuiltinCount; ++i)
    if (kBuiltins[i].name == name) return static_cast<Builtin>(i);
  return std::nullopt;
}

}  // namespace ingot::vm
