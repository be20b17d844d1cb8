#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "runtime/registry/packed_func.h"

namespace ingot::evaluator {

// The builtins that operators are defined by, written once more, for the oracle. Unsupported for one that it does not
// have.
Value call_builtin(std::string_view name, std::span<const Value> args);

// ingot.log, ingot.print, ingot.fail, ingot.identity; null for any other name.
Ref<PackedFuncObject> ingot_function(std::string_view name, const std::function<void(std::string_view)>& log,
                                     const std::function<void(std::string_view)>& print);

}  // namespace ingot::evaluator
