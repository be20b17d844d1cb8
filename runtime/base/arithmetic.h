#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "runtime/base/convert.h"

// What the operators of the language do to one element, for every dtype: the table of docs/language.md. Scalar
// instructions, evaluator and PrimFunc interpreter call these; the JIT is tested against them.
//
// Half types compute in float and round once. Integers wrap. Callers check `divisor_faults` and `pow_faults` first and
// raise DivisionByZero.
namespace ingot::arithmetic {

namespace detail {
// Wide enough that no operator promotes to a signed type.
template <IntElement T>
using Word = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

template <IntElement T>
constexpr Word<T> word(T value) {
  return static_cast<Word<T>>(value);
}
template <IntElement T>
constexpr bool is_minus_one(T value) {
  return std::is_signed_v<T> && value == static_cast<T>(-1);
}
template <IntElement T>
constexpr int kWidth = static_cast<int>(sizeof(T) * 8);
template <IntElement T>
constexpr bool shifts_out(T count) {
  if constexpr (std::is_signed_v<T>) {
    if (count < 0) return true;
  }
  return static_cast<uint64_t>(count) >= static_cast<uint64_t>(kWidth<T>);
}
}  // namespace detail

// True where div, mod, floor_div and floor_mod by `b` raise DivisionByZero.
template <NumericElement T>
constexpr bool divisor_faults(T b) {
  if constexpr (IntElement<T>) {
    return b == 0;
  } else {
    return false;
  }
}

// True where pow(a, b) raises DivisionByZero: integer 0 to a negative power.
template <NumericElement T>
constexpr bool pow_faults(T a, T b) {
  if constexpr (IntElement<T> && std::is_signed_v<T>) {
    return a == 0 && b < 0;
  } else {
    return false;
  }
}

template <NumericElement T>
constexpr T add(T a, T b) {
  if constexpr (IntElement<T>) {
    return static_cast<T>(detail::word(a) + detail::word(b));
  } else {
    return narrow<T>(widen(a) + widen(b));
  }
}

template <NumericElement T>
constexpr T sub(T a, T b) {
  if constexpr (IntElement<T>) {
    return static_cast<T>(detail::word(a) - detail::word(b));
  } else {
    return narrow<T>(widen(a) - widen(b));
  }
}

template <NumericElement T>
constexpr T mul(T a, T b) {
  if constexpr (IntElement<T>) {
    return static_cast<T>(detail::word(a) * detail::word(b));
  } else {
    return narrow<T>(widen(a) * widen(b));
  }
}

template <NumericElement T>
constexpr T neg(T a) {
  if constexpr (IntElement<T>) {
    return static_cast<T>(detail::Word<T>{0} - detail::word(a));
  } else {
    return narrow<T>(-widen(a));
  }
}

// Truncates; MIN / -1 is MIN.
template <NumericElement T>
constexpr T div(T a, T b) {
  if constexpr (IntElement<T>) {
    return detail::is_minus_one(b) ? neg(a) : static_cast<T>(a / b);
  } else {
    return narrow<T>(widen(a) / widen(b));
  }
}

// The remainder of div: it has the sign of `a`; MIN % -1 is 0. For floats exact, as C's fmod.
template <NumericElement T>
T mod(T a, T b) {
  if constexpr (IntElement<T>) {
    return detail::is_minus_one(b) ? T{0} : static_cast<T>(a % b);
  } else {
    return narrow<T>(std::fmod(widen(a), widen(b)));
  }
}

// Rounds towards minus infinity.
template <NumericElement T>
T floor_div(T a, T b) {
  if constexpr (IntElement<T>) {
    const T quotient = div(a, b);
    if constexpr (std::is_signed_v<T>) {
      if (mod(a, b) != 0 && (a < 0) != (b < 0)) return static_cast<T>(quotient - 1);
    }
    return quotient;
  } else {
    return narrow<T>(std::floor(widen(a) / widen(b)));
  }
}

// The remainder of floor_div: it has the sign of `b`. For floats exact where C's fmod has that sign already, else fmod
// plus `b`.
template <NumericElement T>
T floor_mod(T a, T b) {
  if constexpr (std::is_unsigned_v<T>) {
    return mod(a, b);
  } else {
    const Wide<T> divisor = widen(b);
    const Wide<T> remainder = mod(widen(a), divisor);
    return narrow<T>(remainder != 0 && (remainder < 0) != (divisor < 0) ? add(remainder, divisor) : remainder);
  }
}

// NaN where one is NaN.
template <NumericElement T>
constexpr T min(T a, T b) {
  if (widen(a) != widen(a)) return a;
  if (widen(b) != widen(b)) return b;
  return widen(b) < widen(a) ? b : a;
}

template <NumericElement T>
constexpr T max(T a, T b) {
  if (widen(a) != widen(a)) return a;
  if (widen(b) != widen(b)) return b;
  return widen(a) < widen(b) ? b : a;
}

// Integers wrap; a negative power truncates: 1 for 1, -1 or 1 for -1, 0 for the others.
template <NumericElement T>
T pow(T a, T b) {
  if constexpr (IntElement<T>) {
    if constexpr (std::is_signed_v<T>) {
      if (b < 0) return a == 1 ? T{1} : detail::is_minus_one(a) ? static_cast<T>(b % 2 == 0 ? 1 : -1) : T{0};
    }
    T result = 1;
    for (auto power = detail::word(b); power != 0; power >>= 1) {
      if ((power & 1) != 0) result = mul(result, a);
      a = mul(a, a);
    }
    return result;
  } else {
    return narrow<T>(std::pow(widen(a), widen(b)));
  }
}

template <FloatElement T>
T atan2(T a, T b) {
  return narrow<T>(std::atan2(widen(a), widen(b)));
}

template <IntElement T>
constexpr T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <IntElement T>
constexpr T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <IntElement T>
constexpr T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}

// 0 where `b` is negative or not below the width.
template <IntElement T>
constexpr T shift_left(T a, T b) {
  return detail::shifts_out(b) ? T{0} : static_cast<T>(detail::word(a) << b);
}

// Keeps the sign; as by the width less 1 where `b` is negative or not below the width.
template <IntElement T>
constexpr T shift_right(T a, T b) {
  return static_cast<T>(a >> (detail::shifts_out(b) ? static_cast<T>(detail::kWidth<T> - 1) : b));
}

template <Element T>
constexpr bool equal(T a, T b) {
  return widen(a) == widen(b);
}
template <Element T>
constexpr bool not_equal(T a, T b) {
  return widen(a) != widen(b);
}
template <Element T>
constexpr bool less(T a, T b) {
  return widen(a) < widen(b);
}
template <Element T>
constexpr bool less_equal(T a, T b) {
  return widen(a) <= widen(b);
}

// |MIN| is MIN.
template <NumericElement T>
T abs(T a) {
  if constexpr (std::is_unsigned_v<T>) {
    return a;
  } else if constexpr (IntElement<T>) {
    return a < 0 ? neg(a) : a;
  } else {
    return narrow<T>(std::fabs(widen(a)));
  }
}

// -1, 0 or 1; NaN stays, and so does the sign of a zero.
template <NumericElement T>
constexpr T sign(T a) {
  const auto value = widen(a);
  if constexpr (std::is_unsigned_v<T>) {
    return value > 0 ? T{1} : T{0};
  } else {
    return value > 0 ? narrow<T>(Wide<T>{1}) : value < 0 ? narrow<T>(Wide<T>{-1}) : a;
  }
}

// Functions of one float. Those of the C library, computed in Wide<T>.
#define INGOT_FLOAT_FUNCTION(name, expression) \
  template <FloatElement T>                    \
  T name(T a) {                                \
    const Wide<T> x = widen(a);                \
    return narrow<T>(expression);              \
  }
INGOT_FLOAT_FUNCTION(ceil, std::ceil(x))
INGOT_FLOAT_FUNCTION(floor, std::floor(x))
INGOT_FLOAT_FUNCTION(round, std::nearbyint(x))  // even on a tie
INGOT_FLOAT_FUNCTION(trunc, std::trunc(x))
INGOT_FLOAT_FUNCTION(sqrt, std::sqrt(x))
INGOT_FLOAT_FUNCTION(rsqrt, 1 / std::sqrt(x))
INGOT_FLOAT_FUNCTION(exp, std::exp(x))
INGOT_FLOAT_FUNCTION(log, std::log(x))
INGOT_FLOAT_FUNCTION(sin, std::sin(x))
INGOT_FLOAT_FUNCTION(cos, std::cos(x))
INGOT_FLOAT_FUNCTION(tan, std::tan(x))
INGOT_FLOAT_FUNCTION(asin, std::asin(x))
INGOT_FLOAT_FUNCTION(acos, std::acos(x))
INGOT_FLOAT_FUNCTION(atan, std::atan(x))
INGOT_FLOAT_FUNCTION(sinh, std::sinh(x))
INGOT_FLOAT_FUNCTION(cosh, std::cosh(x))
INGOT_FLOAT_FUNCTION(tanh, std::tanh(x))
INGOT_FLOAT_FUNCTION(asinh, std::asinh(x))
INGOT_FLOAT_FUNCTION(acosh, std::acosh(x))
INGOT_FLOAT_FUNCTION(atanh, std::atanh(x))
INGOT_FLOAT_FUNCTION(erf, std::erf(x))
INGOT_FLOAT_FUNCTION(sigmoid, 1 / (1 + std::exp(-x)))
#undef INGOT_FLOAT_FUNCTION
// x * P(N < x) for a normal N; its limit, -0, at minus infinity.
template <FloatElement T>
T gelu(T a) {
  const double x = std::max(static_cast<double>(widen(a)), -40.0);
  return narrow<T>(static_cast<Wide<T>>(x * 0.5 * std::erfc(x * -std::numbers::sqrt2 / 2)));
}

template <FloatElement T>
bool is_nan(T a) {
  return std::isnan(widen(a));
}
template <FloatElement T>
bool is_inf(T a) {
  return std::isinf(widen(a));
}
template <FloatElement T>
bool is_finite(T a) {
  return std::isfinite(widen(a));
}

}  // namespace ingot::arithmetic
