#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/dtype.h"

// Elements of tensors as text with their dtype as suffix: "2f32", "-7i8", "True", "inff64", "nanbf16".
namespace ingot::tir {

// `bits` holds the element in its low bytes. NaNs other than the usual one are `bits(0x7fc00001, float32)`.
std::string literal_text(DType dtype, uint64_t bits);

// A number as it is spelled, without sign and suffix.
struct NumberText {
  std::string_view digits;
  bool is_float = false;  // has a point or an exponent, or is inf or nan
};

// The element; nullopt where the number is out of the dtype's range or does not belong to it (a fraction as integer).
std::optional<uint64_t> literal_bits(DType dtype, NumberText number, bool negative);

// "f" and the short names of dtypes.
std::optional<DType> literal_suffix(std::string_view text);

// The names of infinity and NaN with an optional suffix: "inf", "nanf16".
struct NamedNumber {
  NumberText number;
  DType dtype = DType::None;
};
std::optional<NamedNumber> named_number(std::string_view name);

}  // namespace ingot::tir
