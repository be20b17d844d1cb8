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
// For shifted powers; the one of which 2^(i / 32) times it lie nearest to floats.
constexpr float kPowerFactor = 1.20969141f;
// 2^(i / 32) times kPowerFactor and 2^64, less the integer i << 18: what nearest() gives, shifted by 18, adds the power
// of 2 and i << 18.
constexpr float kShiftedPowers[] = {2.23148678e+19f, 2.22270388e+19f, 2.21499102e+19f, 2.20837152e+19f, 2.20286935e+19f,
                                    2.1985089e+19f,  2.19531526e+19f, 2.19331415e+19f, 2.1925313e+19f,  2.19299375e+19f,
                                    2.19472856e+19f, 2.19776366e+19f, 2.2021274e+19f,  2.20784904e+19f, 2.21495826e+19f,
                                    2.22348541e+19f, 2.23346172e+19f, 2.24491863e+19f, 2.25788869e+19f, 2.2724051e+19f,
                                    2.28850151e+19f, 2.30621288e+19f, 2.32557419e+19f, 2.34662192e+19f, 2.3376178e+19f,
                                    2.32106069e+19f, 2.3054032e+19f,  2.29066513e+19f, 2.2768667e+19f,  2.26402836e+19f,
                                    2.25217123e+19f, 2.24131663e+19f};
// 2^-64 / kPowerFactor * h(a) * e^(a^2 / 2) with h as in gelu(), and as much more as kLog2e is less than log2(e);
// powers of a - center. Parts of a + 5: sixteen to each doubling, those of [8, 16) first, then of [16, 20) and of [5,
// 8). The centers are those at which the first coefficient lies nearest to a float.
constexpr float kGeluCenters[] = {
    3.24250007f, 3.75666666f, 4.24333334f, 4.74916649f, 5.26999998f,  5.72166681f,  6.27166653f,  6.74749994f,
    7.29083347f, 7.79583311f, 8.21749973f, 8.77833366f, 9.20250034f,  9.71249962f,  10.1999998f,  10.7016668f,
    11.4949999f, 12.5299997f, 13.4650002f, 14.375f,     0.124583334f, 0.369583338f, 0.618749976f, 0.875416696f,
    1.12416661f, 1.37166667f, 1.62541664f, 1.88916671f, 2.10083342f,  2.3708334f,   2.61999989f,  2.88750005f};
constexpr float kGelu[][32] = {
    {1.88833942e-23f, 1.10969537e-23f, 6.82076039e-24f, 4.3447248e-24f,  2.85543627e-24f, 1.93783977e-24f,
     1.34299753e-24f, 9.54329312e-25f, 6.90917907e-25f, 5.10072383e-25f, 3.81924641e-25f, 2.90270122e-25f,
     2.24269877e-25f, 1.75735222e-25f, 1.37845283e-25f, 1.1032147e-25f,  7.99058227e-26f, 5.34836539e-26f,
     3.68580652e-26f, 2.64628568e-26f, 2.15998769e-21f, 1.30615403e-21f, 8.11035142e-22f, 5.16132833e-22f,
     3.36659909e-22f, 2.24350123e-22f, 1.52639902e-22f, 1.05674229e-22f, 7.47215739e-23f, 5.35538231e-23f,
     3.89751308e-23f, 2.8845248e-23f},
    {-8.27304621e-23f, -5.26390442e-23f, -3.55656109e-23f, -2.44331238e-23f, -1.70957928e-23f, -1.28144877e-23f,
     -9.23636055e-24f, -7.08814874e-24f, -5.33498584e-24f, -4.16250503e-24f, -3.41968599e-24f, -2.66844902e-24f,
     -2.23177546e-24f, -1.81819797e-24f, -1.50783169e-24f, -1.25443902e-24f, -9.5415951e-25f,  -6.83209849e-25f,
     -5.16285698e-25f, -3.99744589e-25f, -4.74921063e-21f, -3.07720982e-21f, -2.03124701e-21f, -1.35824935e-21f,
     -9.40598666e-22f, -6.66069265e-22f, -4.76810957e-22f, -3.43433435e-22f, -2.67389566e-22f, -1.97567967e-22f,
     -1.51551211e-22f, -1.15644106e-22f},
    {3.43038373e-22f, 2.41093639e-22f, 1.77885307e-22f, 1.33117223e-22f, 1.01155729e-22f, 8.11010731e-23f,
     6.31316169e-23f, 5.1580374e-23f,  4.15500738e-23f, 3.44076767e-23f, 2.96356993e-23f, 2.45500061e-23f,
     2.14450764e-23f, 1.83618309e-23f, 1.59396714e-23f, 1.38690488e-23f, 1.12642585e-23f, 8.75613359e-24f,
     7.09041119e-24f, 5.84997238e-24f, 9.21538575e-21f, 6.3993891e-21f,  4.52654759e-21f, 3.24490858e-21f,
     2.40027235e-21f, 1.81192984e-21f, 1.38244256e-21f, 1.06184273e-21f, 8.69390755e-22f, 6.82977546e-22f,
     5.53566745e-22f, 4.47242128e-22f},
    {-1.359519e-21f,   -1.06311621e-21f, -8.61218004e-22f, -7.05317531e-22f, -5.84287992e-22f, -5.02403271e-22f,
     -4.23614318e-22f, -3.6927253e-22f,  -3.1892884e-22f,  -2.80718539e-22f, -2.53779406e-22f, -2.23508175e-22f,
     -2.040378e-22f,   -1.83790152e-22f, -1.67105062e-22f, -1.52182969e-22f, -1.32338611e-22f, -1.11761673e-22f,
     -9.70177492e-23f, -8.52901833e-23f, -1.53434895e-20f, -1.15676604e-20f, -8.8775584e-21f,  -6.90492005e-21f,
     -5.51352189e-21f, -4.47936598e-21f, -3.6748569e-21f,  -3.03478451e-21f, -2.6277036e-21f,  -2.21110972e-21f,
     -1.90442968e-21f, -1.63799311e-21f},
    {5.09432347e-21f, 4.47597567e-21f, 4.01020756e-21f, 3.61590776e-21f, 3.28151374e-21f, 3.03678319e-21f,
     2.78303221e-21f, 2.5948264e-21f,  2.40835756e-21f, 2.25724988e-21f, 2.14470121e-21f, 2.0111279e-21f,
     1.92054556e-21f, 1.82178311e-21f, 1.73634823e-21f, 1.65634688e-21f, 1.54375944e-21f, 1.4178842e-21f,
     1.32052206e-21f, 1.2377429e-21f,  2.03423051e-20f, 1.70737494e-20f, 1.45459242e-20f, 1.25345287e-20f,
     1.09986708e-20f, 9.76804176e-21f, 8.73807265e-21f, 7.85694678e-21f, 7.25910199e-21f, 6.60812256e-21f,
     6.09673228e-21f, 5.62419889e-21f}};

// P(N < -a) for a normal N; powers of a - 5/32 i. Index i from 0 on.
constexpr float kNearGelu[][32] = {
    {-0.0126183694f,   -0.00880091917f,  -0.00599929783f,  -0.00838536117f,  7.19654781e-05f,  0.00250757369f,
     0.00528404629f,   0.00636257837f,   0.00538203213f,   0.00468415348f,   0.00528784562f,   0.00420570839f,
     0.00367995701f,   0.00184118142f,   0.000664783991f,  -0.000200255367f, -0.000719353266f, -0.00089676748f,
     -0.00114594866f,  -0.00110276369f,  -0.000991057954f, -0.000828756252f, -0.000639770064f, -0.000476896937f,
     -0.000338876765f, -0.000231826154f, -0.000152038614f, -9.62034319e-05f, -5.8819398e-05f,  -3.46389425e-05f,
     -1.98220969e-05f, -1.09635948e-05f},
    {0.000542242837f, -0.00810716208f, -0.0150384791f,  -0.018175723f,   -0.023163721f,   -0.0234321449f,
     -0.0216976386f,  -0.0183769856f,  -0.013403466f,   -0.00859572832f, -0.0042613917f,  -0.000186721954f,
     0.00268411031f,  0.00484570907f,  0.00595560065f,  0.0062434026f,   0.00593992556f,  0.00523906294f,
     0.00439395942f,  0.00349762081f,  0.00266208104f,  0.00194758293f,  0.00136945944f,  0.000930383452f,
     0.000610494462f, 0.000387695007f, 0.000238385968f, 0.000142131365f, 8.22015209e-05f, 4.61263189e-05f,
     2.51417241e-05f, 1.33118192e-05f},
    {0.0664512888f,    0.0640760288f,    0.0571250394f,    0.0465080366f,    0.0333113521f,    0.0190800093f,
     0.00517174741f,   -0.00718649616f,  -0.0171190631f,   -0.0241697915f,   -0.0282725058f,   -0.0296616182f,
     -0.028843144f,    -0.0264106952f,   -0.0230001826f,   -0.0191627443f,   -0.0153368525f,   -0.0118259899f,
     -0.00880197063f,  -0.00633569155f,  -0.00441540498f,  -0.00298239524f,  -0.00195413921f,  -0.00124280213f,
     -0.000767655496f, -0.000460731564f, -0.000268802949f, -0.000152500361f, -8.41567671e-05f, -4.51871092e-05f,
     -2.36118412e-05f, -1.20099357e-05f},
    {1.1524844e-06f,  0.0307928827f,   0.0593694597f,  0.0837645605f,   0.102557048f,    0.1148552f,
     0.12050654f,     0.119960174f,    0.114153638f,   0.104355663f,    0.0919506028f,   0.078273125f,
     0.0644877255f,   0.0514869951f,   0.039878808f,   0.0299891364f,   0.0219103061f,   0.0155609082f,
     0.0107474402f,   0.00722158048f,  0.00472228881f, 0.00300594233f,  0.00186304643f,  0.00112450717f,
     0.000661115511f, 0.000378646597f, 0.00021129704f, 0.000114896211f, 6.08861883e-05f, 3.14467834e-05f,
     1.58311595e-05f, 7.76897923e-06f},
    {-0.398942292f,    -0.394101977f,    -0.379930586f,    -0.357435018f,    -0.328160942f,    -0.294017971f,
     -0.257073879f,    -0.21935077f,     -0.182649091f,    -0.148420185f,    -0.117697015f,    -0.0910825282f,
     -0.0687862709f,   -0.0506950617f,   -0.0364608355f,   -0.0255908482f,   -0.0175283011f,   -0.0117163416f,
     -0.00764260581f,  -0.00486505684f,  -0.00302225794f,  -0.0018321973f,   -0.00108395191f,  -0.000625813496f,
     -0.000352595642f, -0.000193867978f, -0.000104023704f, -5.44697832e-05f, -2.78340303e-05f, -1.38801324e-05f,
     -6.75473439e-06f, -3.207894e-06f},
    {0.5f,
     0.437917978f,
     0.377330273f,
     0.319624186f,
     0.265985519f,
     0.217327729f,
     0.174250707f,
     0.137032315f,
     0.105649777f,
     0.0798249543f,
     0.0590851232f,
     0.0428299531f,
     0.0303963609f,
     0.0211148206f,
     0.014353022f,
     0.00954548176f,
     0.00620966544f,
     0.00395075046f,
     0.00245790114f,
     0.00149506878f,
     0.000889025279f,
     0.000516740489f,
     0.000293555349f,
     0.000162976299f,
     8.84172841e-05f,
     4.68697654e-05f,
     2.42749738e-05f,
     1.22830243e-05f,
     6.07162428e-06f,
     2.93178505e-06f,
     1.38281359e-06f,
     6.37056189e-07f}};

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

  // kPowerFactor * 2^(n - past + 64), which must be a normal number. `closely`: with an error of its last rounding.
  Value shifted_power(const Nearest& n, Value past, bool closely) {
    if (wide_) {
      const Value power = b_.op(Op::IAdd, W, b_.lookup(kShiftedPowers, n.bits), b_.op(Op::Shl, W, n.bits, 0, 0, 18));
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
