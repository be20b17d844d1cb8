#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace ingot {

// Arithmetic for sizes that come from files and users: nullopt instead of wrapping.
template <typename T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <typename T>
[[nodiscard]] constexpr std::optional<T> checked_sub(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <typename T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// Rounds up to a multiple of `alignment`, a power of two.
[[nodiscard]] constexpr std::optional<size_t> checked_align_up(size_t value, size_t alignment) {
  const auto padded = checked_add(value, alignment - 1);
  if (!padded) return std::nullopt;
  return *padded & ~(alignment - 1);
}

// Division that rounds towards minus infinity, and its remainder, which takes the divisor's sign. `b` is not zero; a /
// b does not overflow.
[[nodiscard]] constexpr int64_t floor_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}

[[nodiscard]] constexpr int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t remainder = a % b;
  return (remainder != 0 && ((remainder < 0) != (b < 0))) ? remainder + b : remainder;
}

}  // namespace ingot
