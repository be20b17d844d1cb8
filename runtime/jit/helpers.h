#pragma once
#include <cstdint>

#include "runtime/tir/prim_func.h"

// What generated code calls for operators that it has no instructions for: the arithmetic of the language, lane after
// lane.
namespace ingot::jit {

// Reads and writes lanes as ir.h describes them; `mask` says which ones take part, the others keep whatever is in
// `result`. Nonzero where one of them faults with DivisionByZero.
using Helper = uint32_t (*)(void* result, const void* a, const void* b, uint32_t mask);

// nullptr where operator and dtype do not go together.
Helper unary_helper(tir::ExprOp op, DType dtype);
Helper binary_helper(tir::ExprOp op, DType dtype);
Helper cast_helper(DType from, DType to);

}  // namespace ingot::jit
