#pragma once
#include "runtime/symbolic/struct_info.h"

namespace ingot {

// As is_compatible, but where functions have parameters that merely may fit, which they check themselves, that counts
// as fitting: `Possibly` is left where calls might give something else than expected, which nobody checks.
Compatibility is_usable_as(const StructInfo& given, const StructInfo& expected);

// The same, and `Possibly` where a parameter is a function itself and gives less than the given function asks of it:
// what callers pass would be refused on entry, although each call could check what it gives.
Compatibility is_passable_as(const StructInfo& given, const StructInfo& expected);

}  // namespace ingot
