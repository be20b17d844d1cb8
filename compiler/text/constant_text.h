#pragma once
#include <string>

#include "runtime/tensor/tensor.h"

namespace ingot::text {

// A constant as programs write it: a literal with its suffix (none where it adapts), or Constant(...) with one value
// for equal elements. Reads back bit for bit, but for the payload of NaN. With more than `most_elements` (0: no limit)
// different ones the elements are left out.
std::string constant_text(const TensorObject& tensor, bool adapts, size_t most_elements);

}  // namespace ingot::text
