#pragma once
#include <cstddef>

#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// Equal up to the names of buffers and variables and the numbers of temporaries.
bool same_func(const PrimFunc& a, const PrimFunc& b);
// The same number for functions that are the same.
size_t hash_func(const PrimFunc& func);

}  // namespace ingot::tir
