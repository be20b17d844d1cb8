#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/dtype.h"

namespace ingot {

// What make_tensor asks a pool for: head, dimensions and elements. Throws as byte_size.
size_t make_tensor_bytes(DType dtype, std::span<const int64_t> dims);

}  // namespace ingot
