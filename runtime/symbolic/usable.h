#pragma once
#include "runtime/symbolic/struct_info.h"

namespace ingot {

// As is_compatible, but where functions have parameters that merely may fit, which they check themselves, that counts
// as fitting: `Possibly` is left where calls might give something else than expected, which nobody checks.
Compatibility is_usable_as(const StructInfo& given, const StructInfo& expected);

}  // namespace ingot
