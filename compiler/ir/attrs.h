#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/expr.h"

namespace ingot::ir {

// An attribute as programs write it: 2, -1.5, True, "text", float32, (1, 2), [0.5, 1.0]; an empty list is a list of
// integers.
std::string to_text(const AttrValue& value);
// The reverse; nullopt where the text is no attribute.
std::optional<AttrValue> parse_attr(std::string_view text);

// The shortest text that reads back as the same value, always recognisable as a decimal: "1.0", "0.1", "1e+30"; "inf",
// "-inf" and "nan" for the others.
std::string decimal_text(double value);
std::string decimal_text(float value);
// In quotes, with escapes \" \\ \n \t \r and \xNN for other control characters.
std::string quoted(std::string_view text);

}  // namespace ingot::ir
