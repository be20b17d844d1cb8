#include "runtime/jit/vector_math.h"

#include <initializer_list>
#include <limits>

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
  explicit Math(Builder& builder) : b_(builder) {}

  // e^x = 2^n * e^r with |r| <= log(2) / 2
  Value exp(Value x) {
    x = b_.op(Op::FMin, W, f(89.0f), x);
    x = b_.op(Op::FMax, W, f(-104.0f), x);
    const Value n = round(mul(x, f(1.44269504f)));
    Value r = negated_fma(n, f(kLn2High), x);
    r = negated_fma(n, f(kLn2Low), r);
    const Value p = polynomial(r, {0.00138142204f, 0.00836889911f, 0.0416684039f, 0.166665196f, 0.49999994f});
    const Value power = add(fma(mul(r, r), p, r), f(1.0f));
    return b_.op(Op::Scale, W, power, n);
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

  Value sigmoid(Value x) {
    const Value power = exp(b_.op(Op::Or, W, x, sign_bit()));
    const Value above = blend(less(x, f(0.0f)), power, f(1.0f));
    return b_.op(Op::FDiv, W, above, add(power, f(1.0f)));
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

  // x * G(|x|), G a polynomial in each of 8 parts of [0, 4)
  Value erf(Value x) {
    static constexpr Table kTable[] = {
        {-0.000280198845f, 0.000221176306f, 0.000155965041f, -5.17639928e-05f, -4.40028452e-05f, -5.65022674e-06f,
         2.12569648e-06f, 1.39493295e-06f},
        {-0.00109282834f, -0.00116470759f, 0.000252689293f, 0.000464436744f, 0.000111617548f, -2.10831186e-05f,
         -2.24100568e-05f, -1.11142617e-05f},
        {0.00556332991f, -0.00155349344f, -0.00362352864f, -0.00122977595f, 0.00017828244f, 0.000295042526f,
         0.000165521793f, 8.40096327e-05f},
        {0.0130864792f, 0.0211655293f, 0.00829272252f, -0.00170914922f, -0.0031884776f, -0.00202993304f,
         -0.00111164863f, -0.000631793344f},
        {-0.0838377103f, -0.0250543989f, 0.0211574994f, 0.0285236053f, 0.0197774917f, 0.0118538756f, 0.00727463793f,
         0.00474050408f},
        {-0.0905827433f, -0.203517556f, -0.200719655f, -0.146010697f, -0.0970337689f, -0.0660024509f, -0.0473325849f,
         -0.0355554335f},
        {1.10530555f, 0.948207498f, 0.738320112f, 0.563812375f, 0.44379434f, 0.363599777f, 0.307690978f, 0.266666651f}};
    const Value s = b_.op(Op::FMax, W, f(-kErfEnd), b_.op(Op::FMin, W, f(kErfEnd), x));
    const Value u = fma(magnitude(s), f(2.0f), f(-0.5f));
    const Value nearest = round(u);
    const Value w = sub(u, nearest);
    const Value part = b_.op(Op::F32ToI32Even, W, u);
    Value g = b_.lookup(kTable[0], part);
    for (size_t i = 1; i < std::size(kTable); ++i) g = fma(g, w, b_.lookup(kTable[i], part));
    return mul(s, g);
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
  static constexpr float kErfEnd = 0x1.fffffep1f;

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

  Builder& b_;
};

}  // namespace

Value inline_function(Builder& b, tir::ExprOp op, Value x) {
  Math math(b);
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
    default:
      return 0;
  }
}

}  // namespace ingot::jit
