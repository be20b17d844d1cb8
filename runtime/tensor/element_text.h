#pragma once
#include <string>
#include <string_view>

#include "runtime/base/dtype.h"

namespace ingot {

// Appends one element as text: the shortest decimal that reads back as the same element (all digits of integers in
// the half types); "inf", "-inf" and "nan" (signs
// and payloads of NaN are not shown); booleans as 0 or 1. `element` has any alignment. TypeError for dtypes String and
// None.
void append_element(std::string& text, DType dtype, const void* element);

// Writes the element that `text` says: a decimal number, for floats also "inf", "-inf", "nan"; for booleans 0, 1,
// false, true. InvalidArgument where it is none, or does not fit the dtype; TypeError for dtypes String and None.
void parse_element(std::string_view text, DType dtype, void* element);

// Text between quotes, with \n, \t, \\, \" and \xHH for other control characters.
std::string quoted(std::string_view text);

}  // namespace ingot
