#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// The text form of section 4 of docs/language.md; parse(print(f)) is the same function as f.
//
//   prim_func @scale(A: Buffer[(k,), float32], B: Buffer[(k,), float32], n: int64) {
//     alloc T: Buffer[(k,), float32];
//     for i in k parallel {                 // or: for i in k, for i in k reduce
//       let x = A[i] * 2f32;
//       if (x > 0f32) { B[i] = exp(x); } else { B[i] = select(i < n, 0f32, T[i]); }
//     }
//   }
//
// Indices, extents and dimensions are symbolic expressions (`/` and `%` are floor_div and floor_mod) over dimensions,
// loop indices, int64 lets and int64 scalars. Elsewhere `/` truncates, a name of an index is an int64, and `index(...)`
// holds a symbolic expression. Literals carry a dtype as suffix or take it from what they meet; others are int32 or
// float32. The parameters that are stored to are the outputs and come last; `out` before a parameter's name says it
// where no store does. Scalars may stand anywhere among the parameters.
std::string print(const PrimFunc& func);
// One statement of the function (first line only, without the statements inside of it), for messages.
std::string print_head(const PrimFunc& func, const Stmt& stmt);

// Parses one `prim_func` that begins at `offset` of `text` and moves `offset` behind it. Throws ParseError,
// TypeError or WellFormedness; the message begins with "line:column: ". The result has passed `check` (checker.h).
// With `order`, outputs may stand in front of inputs: buffer i of the result is the order[i]-th in the text; empty
// where they stand in the same order.
PrimFunc parse(std::string_view text, size_t& offset, std::vector<uint32_t>* order = nullptr);

}  // namespace ingot::tir
