#pragma once
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "runtime/registry/packed_func.h"

namespace ingot {

// A function that a program names, or why there is none: the text of the NotAllowed that its evaluation raises.
struct ResolvedFunction {
  Ref<PackedFuncObject> function;
  std::string refusal;
};

// What the names of foreign functions mean to a program: ingot.log, print, assert, fail, identity and write, which are
// always allowed, and what the host has registered and allows. Refers to what it is made of.
struct HostFunctions {
  const Registry* registry;
  const std::set<std::string>* allow;  // null: all of the registry
  std::function<void(std::string_view)> log;
  std::function<void(std::string_view)> print;

  // `writes`: the arguments that the program says it writes.
  ResolvedFunction resolve(const std::string& name, std::span<const uint32_t> writes) const;
};

// InvalidArgument where the program passes `name` something that it must not write to: a tensor of the host, a
// constant, what is no tensor in memory.
void require_writable(std::string_view name, std::span<const uint32_t> writes, std::span<const Slot> args);

}  // namespace ingot
