#pragma once
#include <string_view>

#include "compiler/transform/pass.h"

namespace ingot::transform {

// The attribute of a lifted function that counts how many of its last parameters are captures.
inline constexpr std::string_view kCaptures = "ingot.captures";

#define PASS(name, needs, leaves, kind, summary) ir::Module name(ir::Module module, PassContext& context);
#include "compiler/transform/passes.def"

}  // namespace ingot::transform
