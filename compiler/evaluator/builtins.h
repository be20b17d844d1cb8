#pragma once
#include <span>
#include <string_view>

#include "runtime/object/value.h"

namespace ingot::evaluator {

// A builtin of the VM by its name, which the evaluator shares with it. TypeError for one that there is not.
Value call_builtin(std::string_view name, std::span<const Value> args);

}  // namespace ingot::evaluator
