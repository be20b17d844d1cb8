#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/base/dtype.h"
#include "runtime/base/error.h"
#include "runtime/base/half.h"

// The C++ side of element types: which types they are, how they are read and written, and how one is converted to
// another. Scalar instructions, evaluator, PrimFunc interpreter and kernels all use these, so that they cannot differ.
namespace ingot {

template <typename T>
concept HalfElement = std::same_as<T, Half> || std::same_as<T, BHalf>;
template <typename T>
concept IntElement = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept FloatElement = std::floating_point<T> || HalfElement<T>;
template <typename T>
concept NumericElement = IntElement<T> || FloatElement<T>;
template <typename T>
concept Element = NumericElement<T> || std::same_as<T, bool>;

// The type that arithmetic on T is done in: float for the half types, T itself for the others.
template <Element T>
using Wide = std::conditional_t<HalfElement<T>, float, T>;

template <Element T>
constexpr Wide<T> widen(T value) {
  return static_cast<Wide<T>>(value);
}
// Rounds to nearest even where T is a half type.
template <Element T>
constexpr T narrow(Wide<T> value) {
  return static_cast<T>(value);
}

namespace detail {
template <typename T>
struct DTypeOf;
#define X(name, text, brief, type, bytes, cls)  \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  };
INGOT_FOR_EACH_DTYPE(X)
#undef X
}  // namespace detail

template <Element T>
inline constexpr DType kDTypeOf = detail::DTypeOf<T>::value;

// Calls `f.template operator()<T>()` with the C++ type of a dtype's elements, bool included:
//   with_element(dtype, [&]<typename T>() { ... })
// TypeError for String and None.
template <typename F>
decltype(auto) with_element(DType dtype, F&& f) {
  switch (dtype) {
#define X(name, text, brief, type, bytes, cls) \
  case DType::name:                            \
    return f.template operator()<type>();
    INGOT_FOR_EACH_DTYPE(X)
#undef X
    case DType::None:
    case DType::String:
      break;
  }
  fail(ErrorCode::TypeError, "elements of dtype {} are not numbers or booleans", dtype_name(dtype));
}

// Elements in memory, at any alignment. A bool is one byte: anything but 0 reads as true, true is written as 1.
template <Element T>
T load_element(const void* from) {
  if constexpr (std::same_as<T, bool>) {
    uint8_t byte = 0;
    std::memcpy(&byte, from, 1);
    return byte != 0;
  } else {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
}

template <Element T>
void store_element(void* to, T value) {
  if constexpr (std::same_as<T, bool>) {
    const uint8_t byte = value ? 1 : 0;
    std::memcpy(to, &byte, 1);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

// The cast of the language, for every pair of dtypes:
//   to bool             value != 0, so NaN is true
//   bool to a number    0 or 1
//   integer to integer  wraps: the low bits
//   integer to float    the nearest, even on a tie; above the range, infinity
//   float to integer    truncates; saturates at both ends; NaN gives 0
//   float to float      the nearest, even on a tie; above the range, infinity
// The half types go through float on both sides, also from and to float64 and integers.
template <Element To, Element From>
constexpr To convert(From value) {
  if constexpr (std::same_as<To, From>) {
    return value;
  } else if constexpr (HalfElement<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (HalfElement<To>) {
    return To(convert<float>(value));
  } else if constexpr (std::same_as<To, bool>) {
    return value != From{0};
  } else if constexpr (IntElement<To> && std::floating_point<From>) {
    // Both ends as powers of two, which every float type holds exactly.
    constexpr From kEnd =
        static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From{2};  // NOLINT(bugprone-integer-division)
    constexpr From kBegin = std::is_signed_v<To> ? -kEnd : From{0};
    if (value != value) return To{0};  // NOLINT(misc-redundant-expression)
    if (value >= kEnd) return std::numeric_limits<To>::max();
    if (value <= kBegin) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace ingot
