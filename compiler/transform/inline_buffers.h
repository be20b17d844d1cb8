#pragma once
#include "runtime/tir/prim_func.h"

namespace ingot::transform {

// Computes the elements of temporary buffers where they are read, in place of storing them, wherever that computes
// none more often than before; elements that only move a value may be computed anew. The temporary buffers that are
// left keep their order.
tir::PrimFunc inline_buffers(tir::PrimFunc func);

}  // namespace ingot::transform
