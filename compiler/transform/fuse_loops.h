#pragma once
#include "runtime/tir/prim_func.h"

namespace ingot::transform {

// Makes one loop of neighbouring loops with the same extent where each iteration reads only what the same iteration of
// an earlier one wrote; then temporary buffers shrink to what one iteration needs. Reductions stay loops of their own.
tir::PrimFunc fuse_loops(tir::PrimFunc func);

}  // namespace ingot::transform
