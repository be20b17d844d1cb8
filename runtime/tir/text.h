#pragma once
#include <string>
#include <string_view>

#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// The text form of section 4 of docs/language.md; parse(print(f)) equals f structurally.
std::string print(const PrimFunc& func);

// Parses one `prim_func` that begins at `offset` of `text` and moves `offset` behind it. Throws ParseError or
// TypeError; the message begins with "line:column: ".
PrimFunc parse(std::string_view text, size_t& offset);

bool same_func(const PrimFunc& a, const PrimFunc& b);

}  // namespace ingot::tir
