#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/tensor/tensor.h"

namespace ingot {

// The tensor form of the tool: dimensions and dtype joined by x, then = and the elements in row-major order.
//
//   2x3xf32=1 2 3 4 5 6     elements stand between blanks or commas
//   2x3xf32=random          floats uniform in [0, 1), integers in 0..9, booleans 0 or 1; the same for the same seed
//   f32=1.5                 rank 0
//   0x3xi64=                no elements
//   2xstr="a b" "c"         strings are quoted, with the escapes of element_text.h
//
// The tensor is Shared. InvalidArgument, saying what was read and what is wanted, for text that is not of this form, a
// wrong number of elements, or one that does not fit the dtype.
Ref<TensorObject> parse_tensor(std::string_view text, uint64_t seed = 0);

// Fills a tensor of any dtype but String as `random` does.
void fill_random(TensorObject& tensor, uint64_t seed);

// The same form, complete, or `limit` elements and "...". The tensor has any layout; elements come out in logical
// order.
std::string tensor_text(const TensorObject& tensor, size_t limit = SIZE_MAX);
// "2x3xf32", "f32".
std::string tensor_type_text(DType dtype, std::span<const int64_t> dims);

}  // namespace ingot
