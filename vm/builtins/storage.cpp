#include <cmath>
#include <limits>

#include "vm/builtins/builtins.h"

// Numbers as the types that only store them would hold them.
namespace ingot::vm::builtins {
namespace {

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
  if (std::isnan(value)) return f.has_nan ? nan : f.largest;
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

}  // namespace

Value round_to(const Args& args) {
  const auto x = args.tensor(0);
  const int64_t type = args.integer(1);
  // int4 and uint4 keep the low bits of integers; floats saturate.
  if (type == 21 || type == 22) {
    auto result = args.make(type == 22 ? DType::Int8 : DType::UInt8, x->dims());
    for (size_t at = 0; at < count_of(*x); ++at) {
      const double value = get_number(*x, at);
      int64_t whole = 0;
      if (is_float(x->dtype)) {
        whole = static_cast<int64_t>(std::clamp(std::nearbyint(std::isnan(value) ? 0 : value), type == 22 ? -8.0 : 0.0,
                                                type == 22 ? 7.0 : 15.0));
      } else {
        whole = get_integer(*x, at) & 15;
        if (type == 22 && whole > 7) whole -= 16;
      }
      result->data[at] = static_cast<std::byte>(whole);
    }
    return to_value(std::move(result));
  }
  const Format format = format_of(args, type);
  auto result = args.make(DType::Float32, x->dims());
  for (size_t at = 0; at < count_of(*x); ++at)
    result->elements<float>()[at] = static_cast<float>(rounded(format, get_number(*x, at), args.flag(2)));
  return to_value(std::move(result));
}

}  // namespace ingot::vm::builtins
