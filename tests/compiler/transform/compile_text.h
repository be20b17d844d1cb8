#pragma once
#include <string>
#include <string_view>

#include "compiler/transform/pass.h"

// Programs as text, through passes.
namespace ingot::transform {

// Parsed, normalized and typed. Throws what the passes report.
ir::Module typed_module(std::string_view text);
// The text of @main after the passes, and of every PrimFunc's name before it.
std::string after(std::string_view text, std::initializer_list<Pass> passes);

}  // namespace ingot::transform
