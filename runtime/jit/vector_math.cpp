#include "runtime/jit/vector_math.h"

#include <initializer_list>
#include <limits>

#include "runtime/jit/function_tables.h"

namespace ingot::jit {
namespace {

constexpr auto W = Width::W32;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kSign = 0x80000000u;
// log(2) in two parts, the first with few bits, so that small multiples of it are exact.
constexpr float kLn2High = 0.693359375f;
constexpr float kLn2Low = -2.12194440e-4f;

class Math {
 public:
  // `wide`: the processor looks up 32 entries at once.
  Math(Builder& builder, bool wide) : b_(builder), wide_(wide) {}

  Value exp(Value x) {
    // Scale of AVX-512 makes all that is too large infinite, NaN times 2^infinity included.
    if (!wide_) x = b_.op(Op::FMin, W, f(89.0f), x);
    return power(b_.op(Op::FMax, W, f(-104.0f), x));
  }

  // x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2))
  Value log(Value x) {
    const Value tiny = less(x, f(std::numeric_limits<float>::min()));
    const Value normal = blend(tiny, mul(x, f(0x1p23f)), x);
    const Value bits = b_.op(Op::ISub, W, normal, b_.i32(kSqrtHalf));
    Value e = b_.op(Op::I32ToF32, W, b_.op(Op::Sar, W, bits, 0, 0, 23));
    e = b_.op(Op::FSub, W, e, b_.op(Op::And, W, tiny, f(23.0f)));
    const Value mantissa = b_.op(Op::And, W, bits, b_.i32(0x7fffff));
    const Value part = sub(b_.op(Op::IAdd, W, mantissa, b_.i32(kSqrtHalf)), f(1.0f));
    const Value p = polynomial(part, {0.0674661919f, -0.116756462f, 0.118881688f, -0.1240559f, 0.142195523f,
                                      -0.166679963f, 0.200021192f, -0.250000089f, 0.333333135f});
    const Value square = mul(part, part);
    Value y = mul(mul(square, part), p);
    y = fma(e, f(kLn2Low), y);
    y = negated_fma(f(0.5f), square, y);
    y = fma(e, f(kLn2High), add(part, y));
    y = blend(less(x, f(kInfinity)), y, x);
    y = blend(less(x, f(0.0f)), f(std::numeric_limits<float>::quiet_NaN()), y);
    return blend(equal(x, f(0.0f)), f(-kInfinity), y);
  }

  // e^x / (e^x + 1), both times the factor of shifted_power. Above 20 the result is 1.
  Value sigmoid(Value x) {
    x = b_.op(Op::FMin, W, f(20.0f), x);
    x = b_.op(Op::FMax, W, f(-104.0f), x);
    if (wide_) {
      // e^-x is 2^(n - past): 2^past / (2^past + 2^n) takes the power of a table as it is, without a product.
      constexpr float kFactor = kPowerFactor * 0x1p-64f;
      const Nearest n = nearest(x, -kLog2e, 128);
      const Value past = fma(x, f(kLog2eLow), fma(x, f(kLog2e), n.value));
      const Value p = fma(past, fma(past, f(0.240228661f * kFactor), f(0.693157343f * kFactor)), f(kFactor));
      return b_.op(Op::FDiv, W, p, add(p, table_power(n)));
    }
    const Nearest n = nearest(x, kLog2e);
    const Value e = shifted_power(n, past(x, n), false);
    return b_.op(Op::FDiv, W, e, add(e, f(kPowerFactor * 0x1p64f)));
  }

  // x + x^3 * p(x^2) near 0, else 1 - 2 / (e^2|x| + 1)
  Value tanh(Value x) {
    const Value size = magnitude(x);
    const Value z = mul(x, x);
    const Value p = polynomial(z, {-0.00559101813f, 0.0205388218f, -0.0537096597f, 0.133310929f, -0.333332688f});
    const Value near = fma(mul(size, z), p, size);
    const Value far = sub(f(1.0f), b_.op(Op::FDiv, W, f(2.0f), add(exp(add(size, size)), f(1.0f))));
    const Value sign = b_.op(Op::And, W, x, sign_bit());
    return b_.op(Op::Or, W, blend(less(size, f(0.625f)), near, far), sign);
  }

  // x * G(|x|), G a polynomial in each part of [0, 3.875)
  Value erf(Value x) {
    const Value s = b_.op(Op::FMax, W, f(-kErfEnd), b_.op(Op::FMin, W, f(kErfEnd), x));
    const Value a = magnitude(s);
    const Value part = fma(a, f(4.0f), f(0x1.8p23f));
    const Value w = fma(a, f(4.0f), sub(f(0x1.8p23f), part));
    return mul(s, polynomial(w, kErf, part));
  }

  // x * P(N < x) for a normal N, which is max(x, 0) - |x| * h(|x|) with h(a) = P(N < -a): nothing cancels.
  Value gelu(Value x) {
    if (!wide_) return far_gelu(x);
    // The last part ends at 5/32 * 31.5.
    constexpr float kEnd = 4.9f, kStep = 0.15625f;
    const Value a = magnitude(x);
    const Value part = fma(a, f(1 / kStep), f(0x1.8p23f));
    const Value w = negated_fma(sub(part, f(0x1.8p23f)), f(kStep), a);
    const Value near = negated_fma(a, polynomial(w, kNearGelu, part), b_.op(Op::FMax, W, f(-0.0f), x));
    const Value result = b_.mutable_value(W, near);
    Branch& far = b_.open_rare_branch(a, f(kEnd));
    b_.assign(result, far_gelu(x));
    b_.close_rare_branch(far);
    return b_.current(result);
  }

  // By the exponential function, which all sizes need that are met rarely.
  Value far_gelu(Value x) {
    const Value a = b_.op(Op::FMin, W, f(14.9f), magnitude(x));
    const Value part = b_.op(Op::Shr, W, add(a, f(5.0f)), 0, 0, 19);
    const Value w = polynomial(sub(a, b_.lookup(kGeluCenters, part)), kGelu, part);
    constexpr float kFactor = -kLog2e / 2;
    const Value square = mul(a, a);
    const Value excess = negated_fma(a, a, square);
    const Nearest n = nearest(square, kFactor);
    const Value past = fma(excess, f(kFactor), negated_fma(square, f(kFactor), n.value));
    return negated_fma(mul(a, shifted_power(n, past, true)), w, b_.op(Op::FMax, W, f(-0.0f), x));
  }

  // By the quadrant of x: sine or cosine of what is left of x, at most pi / 4. `quarter`: 0 for sine, 1 for cosine.
  Value sine(Value x, int32_t quarter) {
    const Value n = round(mul(x, f(0.636619772f)));
    Value r = negated_fma(n, f(0x1.921fb6p+0f), x);
    r = negated_fma(n, f(-0x1.777a5cp-25f), r);
    r = negated_fma(n, f(-0x1.ee59dap-50f), r);
    Value quadrant = b_.op(Op::F32ToI32Even, W, n);
    if (quarter != 0) quadrant = b_.op(Op::IAdd, W, quadrant, b_.i32(quarter));
    const Value z = mul(r, r);
    const Value s = fma(mul(r, z), polynomial(z, {-0.000195151995f, 0.0083321603f, -0.166666552f}), r);
    const Value c_part = polynomial(z, {2.44330604e-05f, -0.00138873153f, 0.0416666456f, -0.5f});
    const Value c = fma(z, c_part, f(1.0f));
    const Value odd = b_.op(Op::Sar, W, b_.op(Op::Shl, W, quadrant, 0, 0, 31), 0, 0, 31);
    const Value sign = b_.op(Op::Shl, W, b_.op(Op::And, W, quadrant, b_.i32(2)), 0, 0, 30);
    const Value result = b_.op(Op::Xor, W, blend(odd, c, s), sign);
    return quarter != 0 ? result : blend(less(magnitude(x), f(0x1p-12f)), x, result);
  }

 private:
  static constexpr int32_t kSqrtHalf = 0x3f3504f3;
  static constexpr float kErfEnd = 0x1.effffep1f;

  static constexpr float kLog2e = 1.44269502f, kLog2eLow = 1.92596299e-8f;

  // x * factor to a multiple of 1/32, or of 1 where tables are short; the lowest bits of `bits` count them.
  struct Nearest {
    Value bits, value;
  };
  // `less`: a whole number that `bits` lack.
  Nearest nearest(Value x, float factor, float less = 0) {
    const Value shift = f((wide_ ? 0x1.8p18f : 0x1.8p23f) - less);
    const Value bits = fma(x, f(factor), shift);
    return {bits, sub(bits, shift)};
  }

  // How far n lies above log2(e^x)
  Value past(Value x, const Nearest& n) { return negated_fma(x, f(kLog2eLow), negated_fma(x, f(kLog2e), n.value)); }

  // start * 2^-past, past being at most half of what n is a multiple of
  Value moved(Value start, Value past) {
    return negated_fma(mul(start, past), fma(past, f(-0.240228661f), f(0.693157343f)), start);
  }

  // 2^-past by itself
  Value short_power(Value past) {
    return polynomial(past, {-0.00132647238f, 0.00967151287f, -0.0555073375f, 0.240222421f, -0.693146978f, 1.0f});
  }

  // kPowerFactor * 2^(n + 64), with n as `bits` say, which must be a normal number
  Value table_power(const Nearest& n) {
    return b_.op(Op::IAdd, W, b_.lookup(kShiftedPowers, n.bits), b_.op(Op::Shl, W, n.bits, 0, 0, 18));
  }

  // kPowerFactor * 2^(n - past + 64), which must be a normal number. `closely`: with an error of its last rounding.
  Value shifted_power(const Nearest& n, Value past, bool closely) {
    if (wide_) {
      const Value power = table_power(n);
      if (!closely) return moved(power, past);
      return negated_fma(mul(power, past), polynomial(past, {0.0554950312f, -0.240228459f, 0.693147182f}), power);
    }
    const Value exponent = b_.op(Op::IAdd, W, b_.op(Op::Shl, W, n.bits, 0, 0, 23), b_.i32((127 + 64) << 23));
    return mul(polynomial(past, {0.000184358374f, -0.00161993504f, 0.0116358241f, -0.0671422109f, 0.290599883f,
                                 -0.838494182f, kPowerFactor}),
               exponent);
  }

  // e^x for x from -104 on, without AVX-512 up to 89
  Value power(Value x) {
    const Nearest n = nearest(x, kLog2e);
    const Value rest = past(x, n);
    const Value mantissa = wide_ ? moved(b_.lookup(kPowers, n.bits), rest) : short_power(rest);
    return b_.op(Op::Scale, W, mantissa, n.value);
  }

  Value f(float value) { return b_.f32(value); }
  Value sign_bit() { return b_.bits(W, kSign); }
  Value add(Value a, Value b) { return b_.op(Op::FAdd, W, a, b); }
  Value sub(Value a, Value b) { return b_.op(Op::FSub, W, a, b); }
  Value mul(Value a, Value b) { return b_.op(Op::FMul, W, a, b); }
  Value fma(Value a, Value b, Value c) { return b_.op(Op::FMadd, W, a, b, c); }
  Value negated_fma(Value a, Value b, Value c) { return b_.op(Op::FNmadd, W, a, b, c); }
  Value round(Value a) { return b_.op(Op::FRound, W, a); }
  Value blend(Value mask, Value a, Value b) { return b_.op(Op::Blend, W, mask, a, b); }
  Value magnitude(Value a) { return b_.op(Op::AndNot, W, sign_bit(), a); }
  Value compare(Value a, Value b, Compare how) { return b_.op(Op::CmpF, W, a, b, 0, static_cast<uint8_t>(how)); }
  Value less(Value a, Value b) { return compare(a, b, Compare::Less); }
  Value equal(Value a, Value b) { return compare(a, b, Compare::Equal); }
  // Coefficients from the highest power down.
  Value polynomial(Value x, std::initializer_list<float> coefficients) {
    Value result = f(*coefficients.begin());
    for (const float* c = coefficients.begin() + 1; c != coefficients.end(); ++c) result = fma(result, x, f(*c));
    return result;
  }

  // Coefficients by the part of the argument.
  template <size_t Terms, size_t Parts>
  Value polynomial(Value x, const float (&tables)[Terms][Parts], Value part) {
    Value result = b_.lookup(tables[0], part);
    for (size_t i = 1; i < Terms; ++i) result = fma(result, x, b_.lookup(tables[i], part));
    return result;
  }

  Builder& b_;
  bool wide_;
};

}  // namespace

Value inline_function(Builder& b, tir::ExprOp op, Value x, bool wide) {
  Math math(b, wide);
  switch (op) {
    case tir::ExprOp::Exp:
      return math.exp(x);
    case tir::ExprOp::Log:
      return math.log(x);
    case tir::ExprOp::Sigmoid:
      return math.sigmoid(x);
    case tir::ExprOp::Tanh:
      return math.tanh(x);
    case tir::ExprOp::Sin:
      return math.sine(x, 0);
    case tir::ExprOp::Cos:
      return math.sine(x, 1);
    case tir::ExprOp::Erf:
      return math.erf(x);
    case tir::ExprOp::Gelu:
      return math.gelu(x);
    default:
      return 0;
  }
}

}  // namespace ingot::jit
