#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "runtime/tir/prim_func.h"

// The words of the text form.
namespace ingot::tir {

bool is_identifier_start(char c);
bool is_identifier_part(char c);

// Words that cannot be names: keywords, functions, True, False, and spelled numbers such as inf and nanf32.
bool is_reserved(std::string_view name);

// The operator that is called by this name: "exp", "min", "floor_div".
std::optional<ExprOp> function_named(std::string_view name);

// The name itself where it can stand in text as an identifier, else the nearest that can.
std::string identifier(std::string_view name);

// "@relu", or "@"conv 1"" quoted, with \" and \\, where it is not an identifier.
std::string function_name(std::string_view name);

}  // namespace ingot::tir
