#pragma once
#include "runtime/jit/builder.h"
#include "runtime/tir/prim_func.h"

// Functions of f32 lanes, inline. At most 4 ulp from the true value over the whole range, with the special values of
// the C library: infinities, NaN, denormal numbers and signed zeros.
namespace ingot::jit {

// Sine and cosine hold up to this size.
inline constexpr float kMostOfSine = 65536;

// The function of an operator; 0 where there is none inline. `wide`: for AVX-512.
Value inline_function(Builder& b, tir::ExprOp op, Value x, bool wide);

}  // namespace ingot::jit
