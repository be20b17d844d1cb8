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

// 2^(i / 32)
constexpr float kPowers[] = {1.0f,        1.0218972f,  1.04427373f, 1.06714046f, 1.09050775f, 1.1143868f,  1.13878858f,
                             1.1637249f,  1.18920708f, 1.21524739f, 1.24185777f, 1.26905096f, 1.29683959f, 1.32523668f,
                             1.35425556f, 1.38390994f, 1.41421354f, 1.44518077f, 1.47682619f, 1.50916445f, 1.54221082f,
                             1.5759809f,  1.61049032f, 1.64575553f, 1.68179286f, 1.71861935f, 1.75625217f, 1.79470909f,
                             1.8340081f,  1.87416768f, 1.91520655f, 1.95714414f};
// erf(x) / x near i / 4, powers of 4 * x - i from the highest down
constexpr float kErf[][16] = {
    {-4.28022486e-14f, -3.48701906e-05f, -4.88912337e-05f, -3.67050707e-05f, -1.2033207e-05f, 8.1556509e-06f,
     1.66454574e-05f, 1.47458059e-05f, 8.49853859e-06f, 3.50106529e-06f, 3.45020283e-07f, -6.70439022e-07f,
     -9.9227816e-07f, -6.17132855e-07f, -4.10747106e-07f, -4.88001888e-07f},
    {0.000430708809f, 0.000345153443f, 0.000128241372f, -9.75599251e-05f, -0.000221585913f, -0.000224387128f,
     -0.00015928458f, -7.82263014e-05f, -1.70870935e-05f, 9.8419232e-06f, 2.04145799e-05f, 1.88345748e-05f,
     1.58597977e-05f, 9.63528691e-06f, 5.67269444e-06f, 7.0828055e-06f},
    {1.69842676e-14f, 0.00163625751f, 0.00260786689f, 0.00264593377f, 0.00196688226f, 0.00103637215f, 0.000253001868f,
     -0.000213743609f, -0.000393386581f, -0.000398531789f, -0.000331834366f, -0.000253734965f, -0.000187947371f,
     -0.000138980162f, -0.000103927603f, -7.89369296e-05f},
    {-0.0235057864f, -0.02095907f, -0.0143700773f, -0.00626326399f, 0.000780650123f, 0.00528901163f, 0.00715434132f,
     0.0071311919f, 0.00616102992f, 0.00494465465f, 0.00384025113f, 0.00296336459f, 0.00230470463f, 0.00181883946f,
     0.00145778107f, 0.00118466839f},
    {-1.58297382e-15f, -0.0452914312f, -0.0811085925f, -0.101758815f, -0.106898323f, -0.100359797f, -0.0875233039f,
     -0.073005341f, -0.0596242696f, -0.0485168919f, -0.0397658944f, -0.0330012254f, -0.0277655609f, -0.0236662906f,
     -0.0204077624f, -0.0177777186f},
    {1.12837911f, 1.10530555f, 1.04099977f, 0.948207498f, 0.842700779f, 0.738320112f, 0.644070089f, 0.563812375f,
     0.497661144f, 0.44379434f, 0.399837226f, 0.363599777f, 0.333325982f, 0.307690978f, 0.28571406f, 0.266666651f}};
// The same times 2^64, less the integer (0x1.8p18f + i / 32) << 18: what nearest() gives, shifted by 18, adds the power
// of 2.
constexpr float kShiftedPowers[] = {1.84467441e+19f, 1.83604797e+19f, 1.82786364e+19f, 1.82013144e+19f, 1.81286092e+19f,
                                    1.80606242e+19f, 1.79974605e+19f, 1.79392271e+19f, 1.78860283e+19f, 1.78379775e+19f,
                                    1.77951845e+19f, 1.7757767e+19f,  1.77258416e+19f, 1.76995281e+19f, 1.76789496e+19f,
                                    1.76642326e+19f, 1.76555036e+19f, 1.76528956e+19f, 1.76565427e+19f, 1.76665801e+19f,
                                    1.76831486e+19f, 1.77063923e+19f, 1.77364552e+19f, 1.77734889e+19f, 1.78176442e+19f,
                                    1.78690783e+19f, 1.79279494e+19f, 1.79944215e+19f, 1.80686605e+19f, 1.81508369e+19f,
                                    1.82411233e+19f, 1.83396989e+19f};
// 2^-64 * h(a) * e^(a^2 / 2) with h as in gelu(), and as much more as kLog2e is less than log2(e); powers of a -
// center. Parts of a + 1: eight to each doubling, those of [2, 4) first.
constexpr float kGeluCenters[] = {1.125f,  1.375f,  1.625f,  1.875f,  2.125f,  2.375f,  2.625f,  2.875f,
                                  3.25f,   3.75f,   4.25f,   4.75f,   5.25f,   5.75f,   6.25f,   6.75f,
                                  7.5f,    8.5f,    9.5f,    10.5f,   11.5f,   12.5f,   13.5f,   14.5f,
                                  0.0625f, 0.1875f, 0.3125f, 0.4375f, 0.5625f, 0.6875f, 0.8125f, 0.9375f};
constexpr float kGelu[][32] = {
    {4.08632877e-22f, 2.70412784e-22f, 1.83640306e-22f, 1.267391e-22f,   9.41776417e-23f, 6.66530982e-23f,
     3.99784767e-23f, 4.24952996e-23f, 2.28248667e-23f, 1.34057981e-23f, 8.19953227e-24f, 5.22904261e-24f,
     3.67998997e-24f, 2.58391035e-24f, 1.68064942e-24f, 1.16269006e-24f, 7.18925921e-25f, 4.06288536e-25f,
     2.40547183e-25f, 1.42699403e-25f, 9.62745632e-26f, 7.1509859e-26f,  4.85050048e-26f, 2.83101841e-26f,
     2.87684996e-21f, 2.02334881e-21f, 1.73540433e-21f, 1.29865337e-21f, 6.90179379e-22f, 1.24657138e-21f,
     1.00976932e-21f, 5.74976051e-22f},
    {-1.13616206e-21f, -8.0198129e-22f,  -5.77013054e-22f, -4.22497063e-22f, -3.14529571e-22f, -2.3779254e-22f,
     -1.82265214e-22f, -1.41522946e-22f, -9.93978309e-23f, -6.40273021e-23f, -4.27876514e-23f, -2.953044e-23f,
     -2.09385993e-23f, -1.52204716e-23f, -1.13071378e-23f, -8.55961414e-24f, -5.8347521e-24f,  -3.65322156e-24f,
     -2.39820243e-24f, -1.63438717e-24f, -1.15215443e-24f, -8.33345363e-25f, -6.17802285e-25f, -4.67408123e-25f,
     -6.41914572e-21f, -5.11065544e-21f, -4.09793555e-21f, -3.30681343e-21f, -2.68673938e-21f, -2.19491951e-21f,
     -1.80480046e-21f, -1.4929148e-21f},
    {2.90070774e-21f, 2.1838592e-21f,  1.67307366e-21f, 1.30233771e-21f, 1.02848822e-21f, 8.23174562e-22f,
     6.67022765e-22f, 5.46174474e-22f, 4.12728315e-22f, 2.92927909e-22f, 2.14333028e-22f, 1.60959469e-22f,
     1.23599131e-22f, 9.67834386e-23f, 7.70961399e-23f, 6.23312701e-23f, 4.64230443e-23f, 3.25594986e-23f,
     2.36735832e-23f, 1.77311082e-23f, 1.36091159e-23f, 1.06649569e-23f, 8.51080731e-24f, 6.89929544e-24f,
     1.22773143e-20f, 1.01278492e-20f, 8.4091593e-21f,  7.0276764e-21f,  5.91019982e-21f, 4.99562241e-21f,
     4.24875506e-21f, 3.63393125e-21f},
    {-6.66482684e-21f, -5.40406667e-21f, -4.44683775e-21f, -3.70780115e-21f, -3.12844211e-21f, -2.66788931e-21f,
     -2.29709025e-21f, -1.99505846e-21f, -1.63839054e-21f, -1.2899401e-21f,  -1.03894541e-21f, -8.52948621e-22f,
     -7.11728383e-22f, -6.02231107e-22f, -5.15768014e-22f, -4.46394147e-22f, -3.65594292e-22f, -2.87688055e-22f,
     -2.32075406e-22f, -1.91050865e-22f, -1.59952731e-22f, -1.35835007e-22f, -1.1676348e-22f,  -1.01428075e-22f,
     -2.0013916e-20f,  -1.72236678e-20f, -1.49146141e-20f, -1.29912576e-20f, -1.13791198e-20f, -1.00197317e-20f,
     -8.86687857e-21f, -7.88381076e-21f},
    {1.32994414e-20f, 1.17982782e-20f, 1.05722237e-20f, 9.556748e-21f,   8.70506459e-21f, 7.98265884e-21f,
     7.36366198e-21f, 6.82839857e-21f, 6.1502482e-21f,  5.42313584e-21f, 4.84417767e-21f, 4.37342143e-21f,
     3.98380442e-21f, 3.65642952e-21f, 3.37774902e-21f, 3.13782282e-21f, 2.83481339e-21f, 2.51047135e-21f,
     2.25206485e-21f, 2.04148922e-21f, 1.8666724e-21f,  1.71926784e-21f, 1.59332707e-21f, 1.48449971e-21f,
     2.58046149e-20f, 2.34828595e-20f, 2.14786865e-20f, 1.97381644e-20f, 1.8217926e-20f,  1.6882871e-20f,
     1.5704402e-20f,  1.46590864e-20f}};

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

  // e^x / (e^x + 1), both times 2^64. Above 20 the result is 1.
  Value sigmoid(Value x) {
    x = b_.op(Op::FMin, W, f(20.0f), x);
    x = b_.op(Op::FMax, W, f(-104.0f), x);
    const Nearest n = nearest(x, kLog2e);
    const Value e = shifted_power(n, past(x, n));
    return b_.op(Op::FDiv, W, e, add(e, f(0x1p64f)));
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
    const Value a = b_.op(Op::FMin, W, f(14.9f), magnitude(x));
    const Value part = b_.op(Op::Shr, W, add(a, f(1.0f)), 0, 0, 20);
    const Value w = polynomial(sub(a, b_.lookup(kGeluCenters, part)), kGelu, part);
    constexpr float kFactor = -kLog2e / 2;
    const Value square = mul(a, a);
    const Value excess = negated_fma(a, a, square);
    const Nearest n = nearest(square, kFactor);
    const Value past = fma(excess, f(kFactor), negated_fma(square, f(kFactor), n.value));
    return negated_fma(mul(a, shifted_power(n, past)), w, b_.op(Op::FMax, W, f(-0.0f), x));
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
  Nearest nearest(Value x, float factor) {
    const Value shift = f(wide_ ? 0x1.8p18f : 0x1.8p23f);
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

  // 2^(n - past + 64), which must be a normal number
  Value shifted_power(const Nearest& n, Value past) {
    if (wide_)
      return moved(b_.op(Op::IAdd, W, b_.lookup(kShiftedPowers, n.bits), b_.op(Op::Shl, W, n.bits, 0, 0, 18)), past);
    const Value exponent = b_.op(Op::IAdd, W, b_.op(Op::Shl, W, n.bits, 0, 0, 23), b_.i32((127 + 64) << 23));
    return mul(short_power(past), exponent);
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
