#pragma once
#include <string>

#include "runtime/object/value.h"

namespace ingot {

// "a tensor (2, 3) of float32", "a tuple of 2", "none": a value for messages.
std::string describe_value(const Slot& value);

}  // namespace ingot
