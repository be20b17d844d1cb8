#pragma once
#include <span>
#include <string_view>

#include "compiler/ir/op.h"

namespace ingot::ops {

// All operators, in the order of ops.def.
std::span<const ir::Op> all();
// By name or alias; null where there is none.
const ir::Op* find(std::string_view name);
// Of an ELEMENTWISE line.
bool is_elementwise(const ir::Op& op);

}  // namespace ingot::ops
