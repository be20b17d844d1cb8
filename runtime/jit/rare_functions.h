#pragma once
#include "runtime/jit/helpers.h"

// Functions of f32 that have no instructions in vector_math.h, eight lanes at a time, by SLEEF: at most 1 ulp from the
// true value. Those of it that are right over the whole range only.
namespace ingot::jit {

// nullptr where there is none. Lanes that take no part may get any value. Needs AVX2.
Helper rare_function(tir::ExprOp op);

}  // namespace ingot::jit
