#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "runtime/base/convert.h"

// The table of docs/language.md once more, as plainly as C++ can say it: in 128-bit integers, and in floats that are
// rounded once.
namespace ingot::reference {

__extension__ typedef __int128 Big;
__extension__ typedef unsigned __int128 UnsignedBig;

template <IntElement T>
T power(T base, T exponent) {
  T result = 1;
  const auto times = [](T a, T b) {
    return static_cast<T>(static_cast<UnsignedBig>(static_cast<Big>(a)) *
                          static_cast<UnsignedBig>(static_cast<Big>(b)));
  };
  for (; exponent > 0; exponent = static_cast<T>(exponent / 2)) {
    if (exponent % 2 != 0) result = times(result, base);
    base = times(base, base);
  }
  return result;
}

// None: DivisionByZero.
template <IntElement T>
std::optional<T> binary(std::string_view op, T a, T b) {
  constexpr int kBits = static_cast<int>(8 * sizeof(T));
  const Big x = a, y = b;
  if (op == "add") return static_cast<T>(x + y);
  if (op == "subtract") return static_cast<T>(x - y);
  if (op == "multiply") return static_cast<T>(static_cast<UnsignedBig>(x) * static_cast<UnsignedBig>(y));
  if (op == "minimum") return std::min(a, b);
  if (op == "maximum") return std::max(a, b);
  if (op == "bitwise_and") return static_cast<T>(a & b);
  if (op == "bitwise_or") return static_cast<T>(a | b);
  if (op == "bitwise_xor") return static_cast<T>(a ^ b);
  const bool inside = y >= 0 && y < kBits;
  if (op == "left_shift") return inside ? static_cast<T>(static_cast<UnsignedBig>(x) << static_cast<int>(y)) : T{0};
  if (op == "right_shift") return static_cast<T>(x >> (inside ? static_cast<int>(y) : kBits - 1));
  if (op == "power") {
    if (y >= 0) return power(a, b);
    if (x == 0) return std::nullopt;
    return x == 1 ? T{1} : x == -1 ? static_cast<T>(y % 2 == 0 ? 1 : -1) : T{0};
  }
  if (y == 0) return std::nullopt;
  const Big floor = x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
  if (op == "divide") return static_cast<T>(x / y);
  if (op == "mod") return static_cast<T>(x % y);
  if (op == "floor_divide") return static_cast<T>(floor);
  return static_cast<T>(x - floor * y);  // floor_mod
}

template <FloatElement T>
std::optional<T> binary(std::string_view op, T a, T b) {
  using F = Wide<T>;
  const F x = widen(a), y = widen(b);
  const auto rounded = [](F value) { return narrow<T>(value); };
  const bool nan = std::isnan(x) || std::isnan(y);
  if (op == "add") return rounded(x + y);
  if (op == "subtract") return rounded(x - y);
  if (op == "multiply") return rounded(x * y);
  if (op == "divide") return rounded(x / y);
  if (op == "mod") return rounded(std::fmod(x, y));
  if (op == "floor_divide") return rounded(std::floor(x / y));
  if (op == "power") return rounded(std::pow(x, y));
  if (op == "minimum") return rounded(nan ? std::numeric_limits<F>::quiet_NaN() : std::min(x, y));
  if (op == "maximum") return rounded(nan ? std::numeric_limits<F>::quiet_NaN() : std::max(x, y));
  const F rest = std::fmod(x, y);  // floor_mod
  return rounded(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
}

template <NumericElement T>
T unary(std::string_view op, T a) {
  if constexpr (IntElement<T>) {
    const Big x = a;
    if (op == "negative") return static_cast<T>(-x);
    if (op == "abs") return static_cast<T>(x < 0 ? -x : x);
    if (op == "sign") return static_cast<T>(x > 0 ? 1 : x < 0 ? -1 : 0);
    return static_cast<T>(~x);  // bitwise_not
  } else {
    const Wide<T> x = widen(a);
    if (op == "negative") return narrow<T>(-x);
    if (op == "abs") return narrow<T>(std::fabs(x));
    if (op == "sign") return narrow<T>(x > 0 ? 1 : x < 0 ? -1 : x);
    if (op == "floor") return narrow<T>(std::floor(x));
    if (op == "ceil") return narrow<T>(std::ceil(x));
    if (op == "round") return narrow<T>(std::nearbyint(x));
    return narrow<T>(std::trunc(x));
  }
}

template <Element T>
bool comparison(std::string_view op, T a, T b) {
  const auto x = widen(a), y = widen(b);
  if (op == "equal") return x == y;
  if (op == "not_equal") return x != y;
  if (op == "less") return x < y;
  if (op == "less_equal") return x <= y;
  if (op == "greater") return x > y;
  if (op == "greater_equal") return x >= y;
  if (op == "logical_and") return x != 0 && y != 0;
  if (op == "logical_or") return x != 0 || y != 0;
  return (x != 0) != (y != 0);  // logical_xor
}

template <Element To, Element From>
To cast(From from) {
  const auto value = widen(from);
  if constexpr (std::same_as<To, bool>) {
    return value != 0;
  } else if constexpr (IntElement<To> && !FloatElement<From>) {
    return static_cast<To>(value);
  } else if constexpr (IntElement<To>) {
    const auto whole = std::trunc(static_cast<long double>(value));
    if (std::isnan(whole)) return 0;
    if (whole <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (whole >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(whole);
  } else if constexpr (HalfElement<To>) {
    return To(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace ingot::reference
