#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/object/value.h"

namespace ingot {

// A value for people, as ingot.print and the tool show it. Nesting depth is not limited by the C++ stack.
//
//   tensors       2x3xf32=1 2 3 4 5 6, of each at most `limit` elements (see tensor_text.h); scalars f32=1.5
//   tuples        (f32=1, (), (f32=2,))
//   shapes        shape(2, 3)
//   prim values   prim(3), prim(2.5), prim(true)
//   strings       as they are; between quotes inside of tuples
//   others        dtype(float32), none, <closure>, <PackedFunc>, <opaque object>
std::string value_text(const Slot& value, size_t limit = SIZE_MAX);
inline std::string value_text(const Value& value, size_t limit = SIZE_MAX) { return value_text(value.slot(), limit); }

}  // namespace ingot
