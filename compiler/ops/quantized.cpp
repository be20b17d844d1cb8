#include "compiler/ops/quantized.h"

#include <algorithm>
#include <cmath>

#include "compiler/ops/functions.h"
#include "runtime/base/convert.h"

namespace ingot::ops {

using namespace ir;

namespace {

constexpr double kTwo31 = 2147483648.0;

std::optional<std::vector<double>> constant_numbers(const Expr& e) {
  const auto* constant = as<Constant>(e);
  if (constant == nullptr || constant->data->dtype == DType::String || constant->data->rank > 1) return std::nullopt;
  const TensorObject& data = *constant->data;
  std::vector<double> result(element_count(data.dims()));
  with_element(data.dtype, [&]<typename T>() {
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = convert<double>(load_element<T>(data.data + i * dtype_bytes(data.dtype)));
  });
  return result;
}

Expr call_of(std::string_view op, const Expr& x, const Expr& y) { return make_call(op, {x, y}); }
Expr with(std::string_view op, const Expr& x, int64_t value) {
  return make_call(op, {x, scalar(DType::Int64, static_cast<double>(value))});
}

// Factors as multiplier * 2^(left - right), the multipliers of 31 bits; tensors of int64 that broadcast to the data.
struct FixedPoint {
  Expr multiplier, left, right;  // no left: none is shifted to the left
};

FixedPoint fixed_point(const std::vector<double>& factors, const Dims& dims) {
  std::vector<int64_t> sizes;
  for (const PrimExpr& dim : dims) sizes.push_back(*dim.as_const());
  const auto tensor = [&] { return ingot::make_tensor(nullptr, DType::Int64, sizes); };
  auto multiplier = tensor(), left = tensor(), right = tensor();
  bool shifts = false;
  for (size_t i = 0; i < factors.size(); ++i) {
    int exponent = 0;
    auto significand = static_cast<int64_t>(std::round(std::frexp(factors[i], &exponent) * kTwo31));
    if (std::abs(significand) == static_cast<int64_t>(kTwo31)) {
      significand /= 2;
      ++exponent;
    }
    multiplier->elements<int64_t>()[i] = significand;
    left->elements<int64_t>()[i] = std::clamp(exponent, 0, 31);
    right->elements<int64_t>()[i] = std::clamp(-exponent, 0, 32);
    shifts = shifts || exponent > 0;
  }
  const auto constant = [](auto& data) -> Expr { return std::make_shared<Constant>(std::move(data), false, Span{}); };
  return {constant(multiplier), shifts ? constant(left) : Expr(), constant(right)};
}

// The same of factors that are known only when the program runs: float64, whose parts are read from its bits.
FixedPoint fixed_point(const Expr& factors) {
  const Expr bits = make_call("reinterpret", {factors}, {{"dtype", DType::Int64}});
  const Expr exponent = with("subtract", with("bitwise_and", with("right_shift", bits, 52), 2047), 1022);
  constexpr int64_t kFraction = (int64_t{1} << 52) - 1;
  const Expr mantissa = with("add", with("bitwise_and", bits, kFraction), kFraction + 1);
  const Expr rounded = with("right_shift", with("add", mantissa, 1 << 21), 22);
  const Expr full = with("equal", rounded, int64_t{1} << 31);
  const Expr significand = make_call("where", {full, scalar(DType::Int64, kTwo31 / 2), rounded});
  const Expr power = call_of("add", exponent, converted(full, DType::Int64));
  const Expr sign = converted(make_call("sign", {factors}), DType::Int64);
  return {call_of("multiply", significand, sign), with("minimum", with("maximum", power, 0), 31),
          with("minimum", with("maximum", make_call("negative", {power}), 0), 32)};
}

Expr scaled(const Expr& x, const FixedPoint& by, bool away_from_zero) {
  Expr wide = converted(x, DType::Int64);
  if (by.left != nullptr) wide = call_of("left_shift", wide, by.left);
  wide = call_of("multiply", wide, by.multiplier);
  Expr half = call_of("left_shift", scalar(DType::Int64, 1), with("add", by.right, 30));
  if (away_from_zero) half = call_of("subtract", half, converted(with("less", wide, 0), DType::Int64));
  return converted(call_of("right_shift", call_of("add", wide, half), with("add", by.right, 31)), DType::Int32);
}

// The whole number next to x: halves up, or away from zero.
Expr rounded(const Expr& x, DType dtype, bool away_from_zero) {
  const Expr half = scalar(dtype, 0.5);
  const Expr up = make_call("floor", {call_of("add", x, half)});
  if (!away_from_zero) return up;
  const Expr down = make_call("ceil", {call_of("subtract", x, half)});
  return make_call("where", {call_of("less", x, scalar(dtype, 0)), down, up});
}

void check(const CallSite& call, const Requantization& how) {
  if (how.rounding != "UPWARD" && how.rounding != "TONEAREST")
    call.fail(ErrorCode::InvalidArgument, "rounding is \"{}\", possible are \"UPWARD\" and \"TONEAREST\"",
              how.rounding);
  if (how.compute != "int64" && how.compute != "float32" && how.compute != "float64")
    call.fail(ErrorCode::InvalidArgument,
              "compute_dtype is \"{}\", possible are \"int64\", \"float32\" and \"float64\"", how.compute);
}

}  // namespace

Parameter parameter_at(const CallSite& call, size_t i) {
  Parameter p{call.arg(i), operand(call, i)};
  if (p.info.rank() > 1)
    call.fail(ErrorCode::ShapeMismatch, "{} must be a scalar or a vector, it has rank {}", p.info.name, p.info.rank());
  return p;
}

Parameter scale_at(const CallSite& call, size_t i) {
  Parameter p = parameter_at(call, i);
  require_float(call, p.info);
  if (const auto known = constant_numbers(p.value))
    for (const double value : *known)
      if (!(std::isfinite(value) && value != 0))
        call.fail(ErrorCode::InvalidArgument, "{} has {}, a scale must be a number other than 0", p.info.name, value);
  return p;
}

Parameter zero_at(const CallSite& call, size_t i) {
  Parameter p = parameter_at(call, i);
  require_integer(call, p.info);
  return p;
}

Encoding encoding_at(const CallSite& call, size_t i) { return {scale_at(call, i), zero_at(call, i + 1)}; }

Parameter constant_parameter(DType dtype, double value) {
  return {scalar(dtype, value), {"a constant", tensor_info(dtype, Dims{})}};
}

Expr multiplied(const Parameter& x, const Parameter& y) {
  const auto a = constant_numbers(x.value), b = constant_numbers(y.value);
  if (!a || !b || a->size() * b->size() != 1)
    return call_of("multiply", converted(x.value, DType::Float32), converted(y.value, DType::Float32));
  return scalar(DType::Float32, a->front() * b->front());
}

void require_scalar(const CallSite& call, const Parameter& p) {
  if (p.info.rank() != 0 && !p.info.dims()[0].is_const(1)) require_rank(call, p.info, 0);
}

Operand quantized_operand(const CallSite& call, size_t i) {
  const auto x = operand(call, i);
  if (!is_integer(x.dtype()) || dtype_bytes(x.dtype()) > 4 || x.dtype() == DType::UInt32)
    call.fail(ErrorCode::TypeError, "{} is {}, possible are int8, uint8, int16, uint16 and int32; convert it with cast",
              x.name, dtype_name(x.dtype()));
  return x;
}

Expr beside(const CallSite& call, const Parameter& p, int64_t axis, const Operand& data) {
  if (p.info.rank() == 0) return p.value;
  Dims dims(data.rank(), PrimExpr(1));
  if (!p.info.dims()[0].is_const(1)) {
    const auto at = static_cast<size_t>(normalize_axis(call, axis, data.rank()));
    demand_equal(call, fmt::format("sizes along axis {}", at), data, data.dims()[at], p.info, p.info.dims()[0]);
    dims[at] = p.info.dims()[0];
  }
  return make_call("reshape", {p.value, make_shape(dims)}, {{"allowzero", true}});
}

Expr centred(const CallSite& call, const Expr& x, const Operand& data, const Parameter& zero, int64_t axis) {
  const Expr wide = converted(x, DType::Int32);
  if (const auto known = constant_numbers(zero.value);
      known && std::ranges::all_of(*known, [](double z) { return z == 0; }))
    return wide;
  return call_of("subtract", wide, converted(beside(call, zero, axis, data), DType::Int32));
}

Expr requantized(const CallSite& call, const Expr& x, const Operand& data, const Encoding& from, const Encoding& to,
                 const Requantization& how) {
  check(call, how);
  require_scalar(call, to.scale);
  require_scalar(call, to.zero);
  const bool away = how.rounding == "TONEAREST";
  const Expr to_scale = make_call("reshape", {to.scale.value, make_shape({})});
  const Expr to_zero = make_call("reshape", {to.zero.value, make_shape({})});
  Expr result;
  if (how.compute == "int64") {
    const auto source = constant_numbers(from.scale.value), target = constant_numbers(to.scale.value);
    FixedPoint factors;
    if (source && target) {
      std::vector<double> ratios;
      for (const double s : *source) ratios.push_back(s / target->front());
      Dims dims(source->size() == 1 ? 0 : data.rank(), PrimExpr(1));
      if (source->size() != 1) {
        beside(call, from.scale, how.axis, data);
        dims[static_cast<size_t>(normalize_axis(call, how.axis, data.rank()))] = static_cast<int64_t>(source->size());
      }
      factors = fixed_point(ratios, dims);
    } else {
      const Expr wide = converted(beside(call, from.scale, how.axis, data), DType::Float64);
      factors = fixed_point(call_of("divide", wide, converted(to_scale, DType::Float64)));
    }
    result = scaled(centred(call, x, data, from.zero, how.axis), factors, away);
    result = call_of("add", result, converted(to_zero, DType::Int32));
  } else {
    const DType real = how.compute == "float32" ? DType::Float32 : DType::Float64;
    const Expr zero = converted(beside(call, from.zero, how.axis, data), real);
    const Expr wide = converted(beside(call, from.scale, how.axis, data), DType::Float64);
    const Expr factor = converted(call_of("divide", wide, converted(to_scale, DType::Float64)), real);
    const Expr value = call_of("multiply", call_of("subtract", converted(x, real), zero), factor);
    result = converted(rounded(call_of("add", value, converted(to_zero, real)), real, away), DType::Int32);
  }
  return narrowed(result, how.out);
}

Expr narrowed(const Expr& x, DType to) {
  if (to == DType::Int32) return x;
  const int bits = 8 * static_cast<int>(dtype_bytes(to));
  const double low = is_signed_int(to) ? -std::exp2(bits - 1) : 0;
  const double high = std::exp2(is_signed_int(to) ? bits - 1 : bits) - 1;
  return converted(make_call("clip", {x}, {{"a_min", low}, {"a_max", high}}), to);
}

Expr times(const Expr& x, double factor) { return scaled(x, fixed_point({factor}, {}), false); }

// An int32 tensor times multiplier * 2^(left - right - 31) along an axis, halves rounded up.
Meaning define_fixed_point_multiply_per_axis(const CallSite& call) {
  const auto x = operand(call, 0);
  const auto axes = call.integers("axes");
  if (x.dtype() != DType::Int32)
    call.fail(ErrorCode::TypeError, "{} must be int32, it is {}", x.name, dtype_name(x.dtype()));
  if (axes.size() != 1) call.fail(ErrorCode::InvalidArgument, "axes has {} numbers, 1 is wanted", axes.size());
  std::vector<Expr> parts;
  for (size_t i = 1; i < 4; ++i) parts.push_back(converted(beside(call, zero_at(call, i), axes[0], x), DType::Int64));
  const Expr right = call.flag("is_rshift_required") ? parts[2] : scalar(DType::Int64, 0);
  return scaled(call.arg(0), {parts[0], call.flag("is_lshift_required") ? parts[1] : Expr(), right}, false);
}

}  // namespace ingot::ops
