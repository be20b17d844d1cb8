#include <algorithm>
#include <cmath>
#include <limits>

#include "vm/builtins/builtins.h"

// Numbers as the types that only store them would hold them.
namespace ingot::vm::builtins {
namespace {

// ONNX's numbers.
constexpr int64_t kUInt4 = 21, kInt4 = 22, kFloat8E8M0 = 24, kUInt2 = 25, kInt2 = 26;

int integer_bits(int64_t type) { return type == kUInt4 || type == kInt4 ? 4 : type == kUInt2 || type == kInt2 ? 2 : 0; }

struct Format {
  int exponent_bits, mantissa_bits;
  bool has_infinity;
  bool has_nan;
  bool unsigned_zero;
  double largest;
};

// By ONNX's number of the type: float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float4e2m1.
Format format_of(const Args& args, int64_t type) {
  switch (type) {
    case 17:
      return {4, 3, false, true, false, 448};
    case 18:
      return {4, 3, false, true, true, 240};
    case 19:
      return {5, 2, true, true, false, 57344};
    case 20:
      return {5, 2, false, true, true, 57344};
    case 23:
      return {2, 1, false, false, false, 6};
    default:
      args.fail(ErrorCode::Unsupported, "there is no storage type {}", type);
  }
}

double rounded(const Format& f, double value, bool saturates) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(value)) return f.has_nan ? nan : -0.0;
  const double overflow = saturates || !f.has_nan ? f.largest : f.has_infinity ? INFINITY : nan;
  if (std::isinf(value)) {
    // Saturation brings infinities to the greatest number as well.
    return std::copysign(overflow, value);
  }
  const int bias = (1 << (f.exponent_bits - 1)) - (f.unsigned_zero ? 0 : 1);
  int exponent = 0;
  std::frexp(value, &exponent);
  const int least = 1 - bias;
  const double unit = std::ldexp(1.0, std::max(exponent - 1, least) - f.mantissa_bits);
  const double result = std::nearbyint(value / unit) * unit;
  if (std::fabs(result) > f.largest) return std::copysign(overflow, value);
  if (result == 0 && f.unsigned_zero) return 0;
  return result;
}

// float8e8m0: a power of two without a sign, from 2^-127 to 2^127, or NaN.
float power_of_two(double value, std::string_view mode, bool saturates) {
  constexpr int kLeast = -127, kMost = 127;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (std::isnan(value)) return nan;
  if (value == 0) return std::ldexp(1.0F, kLeast);
  int exponent = kMost + 1;
  if (!std::isinf(value)) {
    const double fraction = 2 * std::frexp(std::fabs(value), &exponent);
    --exponent;
    if ((mode == "up" && fraction > 1) || (mode == "nearest" && fraction >= 1.5)) ++exponent;
  }
  if (!saturates && (exponent < kLeast || exponent > kMost)) return nan;
  return std::ldexp(1.0F, std::clamp(exponent, kLeast, kMost));
}

}  // namespace

// Integers of a few bits keep the low ones.
Value round_to(const Args& args) {
  const auto x = args.tensor(0);
  const int64_t type = args.integer(1);
  if (const int bits = integer_bits(type); bits != 0) {
    const bool has_sign = type == kInt4 || type == kInt2;
    auto result = args.make(has_sign ? DType::Int8 : DType::UInt8, x->dims());
    for (size_t at = 0; at < count_of(*x); ++at) {
      const int64_t given =
          is_float(x->dtype) ? convert<int64_t>(get_number(*x, at)) : static_cast<int64_t>(get_integer(*x, at));
      int64_t low = given & ((1 << bits) - 1);
      if (has_sign && low >= 1 << (bits - 1)) low -= 1 << bits;
      result->data[at] = static_cast<std::byte>(low);
    }
    return to_value(std::move(result));
  }
  if (type == kFloat8E8M0) {
    const std::string_view mode = args.has(3) ? args.text(3) : "up";
    auto result = args.make(DType::Float32, x->dims());
    for (size_t at = 0; at < count_of(*x); ++at)
      result->elements<float>()[at] = power_of_two(get_number(*x, at), mode, args.flag(2));
    return to_value(std::move(result));
  }
  const Format format = format_of(args, type);
  auto result = args.make(DType::Float32, x->dims());
  for (size_t at = 0; at < count_of(*x); ++at)
    result->elements<float>()[at] = static_cast<float>(rounded(format, get_number(*x, at), args.flag(2)));
  return to_value(std::move(result));
}

Value bit_cast(const Args& args) {
  const auto x = args.tensor(0);
  const DType dtype = args.tensor(1)->dtype;
  if (x->dtype == DType::String || dtype == DType::String || dtype_bytes(x->dtype) != dtype_bytes(dtype))
    args.fail(ErrorCode::TypeError, "elements of {} and {} are not equally large", dtype_name(x->dtype),
              dtype_name(dtype));
  auto result = args.make(dtype, x->dims());
  std::memcpy(result->data, x->data, x->bytes);
  if (dtype == DType::Bool)
    for (size_t at = 0; at < count_of(*x); ++at) result->data[at] = std::byte{result->data[at] != std::byte{0}};
  return to_value(std::move(result));
}

}  // namespace ingot::vm::builtins
