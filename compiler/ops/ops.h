#pragma once
#include <span>
#include <string_view>

#include "compiler/ir/op.h"

namespace ingot::ops {

// All operators, in the order of ops.def.
std::span<const ir::Op> all();
// By name or alias, with or without "relax." in front; null where there is none.
const ir::Op* find(std::string_view name);
// What a program does instead of an operator of Relay or Relax that is not there, with the reason: a line of
// absent_ops.def. Empty where nothing is known of the name.
std::string_view instead_of(std::string_view name);
struct Absent {
  std::string_view names, reason;
};
std::span<const Absent> absent();
// Of an ELEMENTWISE line.
bool is_elementwise(const ir::Op& op);
// May the sizes of the arguments be others in another run?
bool has_open_sizes(const ir::CallSite& call);
// May the call be dropped, duplicated or moved? What its operator says, and MayFail where inference could not tell
// whether the sizes fit.
ir::Effect effect_of(const ir::CallSite& call);

}  // namespace ingot::ops
