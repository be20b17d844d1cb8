#pragma once
#include "runtime/base/bytes.h"
#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// The bytes of a PrimFunc in a file. Reading checks ids, counts and nesting (CorruptFile); `check` in checker.h does
// the rest.
void encode(ByteWriter& out, const PrimFunc& func);
PrimFunc decode_prim_func(ByteReader& in);

}  // namespace ingot::tir
