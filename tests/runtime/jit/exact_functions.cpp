#include "tests/runtime/jit/exact_functions.h"

#include <bit>
#include <cmath>
#include <limits>

#include <immintrin.h>

#define LANES [[gnu::target("avx2,fma")]]

// Declared here, since sleef.h shows them only where everything is compiled for AVX2.
extern "C" {
LANES __m256d Sleef_expd4_u10avx2(__m256d);
LANES __m256d Sleef_logd4_u10avx2(__m256d);
LANES __m256d Sleef_tanhd4_u10avx2(__m256d);
LANES __m256d Sleef_erfd4_u10avx2(__m256d);
LANES __m256d Sleef_erfcd4_u15avx2(__m256d);
LANES __m256d Sleef_sind4_u10avx2(__m256d);
LANES __m256d Sleef_cosd4_u10avx2(__m256d);
LANES __m256d Sleef_tand4_u10avx2(__m256d);
LANES __m256d Sleef_asind4_u10avx2(__m256d);
LANES __m256d Sleef_acosd4_u10avx2(__m256d);
LANES __m256d Sleef_atand4_u10avx2(__m256d);
LANES __m256d Sleef_atanhd4_u10avx2(__m256d);
LANES __m256d Sleef_sinhd4_u10avx2(__m256d);
LANES __m256d Sleef_coshd4_u10avx2(__m256d);
LANES __m256d Sleef_powd4_u10avx2(__m256d, __m256d);
}

namespace ingot::jit {
namespace {

using tir::ExprOp;
using Lanes = __m256d;

constexpr size_t kLanes = 4;

LANES inline Lanes all(double value) { return _mm256_set1_pd(value); }
LANES inline Lanes load(const float* from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }

LANES Lanes sigmoid(Lanes x) {
  return _mm256_div_pd(all(1), _mm256_add_pd(all(1), Sleef_expd4_u10avx2(_mm256_sub_pd(all(0), x))));
}
LANES Lanes gelu(Lanes x) {
  const Lanes tail = Sleef_erfcd4_u15avx2(_mm256_div_pd(x, all(-std::sqrt(2.0))));
  const Lanes result = _mm256_mul_pd(_mm256_mul_pd(x, all(0.5)), tail);
  return _mm256_blendv_pd(result, all(-0.0), _mm256_cmp_pd(x, all(-40), _CMP_LT_OQ));
}
LANES Lanes sqrt_lanes(Lanes x) { return _mm256_sqrt_pd(x); }
LANES Lanes rsqrt_lanes(Lanes x) { return _mm256_div_pd(all(1), _mm256_sqrt_pd(x)); }
LANES Lanes pow_1_5(Lanes x) { return Sleef_powd4_u10avx2(x, all(1.5)); }
LANES Lanes pow_3(Lanes x) { return Sleef_powd4_u10avx2(x, all(3)); }

template <Lanes (*function)(Lanes)>
LANES void map(std::span<const float> x, std::span<double> y) {
  for (size_t i = 0; i + kLanes <= x.size(); i += kLanes) _mm256_storeu_pd(&y[i], function(load(&x[i])));
}

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double exact_gelu(double x) { return x < -40 ? -0.0 : x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Bit i where lane i is farther from the exact value than `most`, or where it takes more than a subtraction to tell.
LANES int doubtful(const float* got, const double* exact, double most) {
  const __m128 y = _mm_loadu_ps(got);
  const Lanes e = _mm256_loadu_pd(exact);
  const __m128 nearest = _mm256_cvtpd_ps(e);
  const __m128 same = _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_castps_si128(y), _mm_castps_si128(nearest)));
  const __m128 both_nan = _mm_and_ps(_mm_cmpunord_ps(y, y), _mm_cmpunord_ps(nearest, nearest));

  const __m128 magnitude = _mm_andnot_ps(_mm_set1_ps(-0.0f), nearest);
  const Lanes size = _mm256_cvtps_pd(_mm_max_ps(magnitude, _mm_set1_ps(std::numeric_limits<float>::min())));
  const Lanes power = _mm256_and_pd(size, all(std::numeric_limits<double>::infinity()));
  const Lanes place = _mm256_mul_pd(power, all(0x1p-23));
  const Lanes distance = _mm256_andnot_pd(all(-0.0), _mm256_sub_pd(_mm256_cvtps_pd(y), e));
  const Lanes near = _mm256_cmp_pd(distance, _mm256_mul_pd(place, all(most)), _CMP_LE_OQ);
  const int zero = _mm_movemask_ps(_mm_cmpeq_ps(y, _mm_setzero_ps()));
  return ~(_mm_movemask_ps(_mm_or_ps(same, both_nan)) | (_mm256_movemask_pd(near) & ~zero)) & 0xf;
}

const ExactFunction kFunctions[] = {
    {"exp", ExprOp::Exp, [](double x) { return std::exp(x); }, map<Sleef_expd4_u10avx2>},
    {"log", ExprOp::Log, [](double x) { return std::log(x); }, map<Sleef_logd4_u10avx2>},
    {"tanh", ExprOp::Tanh, [](double x) { return std::tanh(x); }, map<Sleef_tanhd4_u10avx2>},
    {"sigmoid", ExprOp::Sigmoid, exact_sigmoid, map<sigmoid>},
    {"erf", ExprOp::Erf, [](double x) { return std::erf(x); }, map<Sleef_erfd4_u10avx2>},
    {"gelu", ExprOp::Gelu, exact_gelu, map<gelu>},
    {"sqrt", ExprOp::Sqrt, [](double x) { return std::sqrt(x); }, map<sqrt_lanes>},
    {"rsqrt", ExprOp::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, map<rsqrt_lanes>},
    {"sin", ExprOp::Sin, [](double x) { return std::sin(x); }, map<Sleef_sind4_u10avx2>},
    {"cos", ExprOp::Cos, [](double x) { return std::cos(x); }, map<Sleef_cosd4_u10avx2>},
    {"tan", ExprOp::Tan, [](double x) { return std::tan(x); }, map<Sleef_tand4_u10avx2>},
    {"asin", ExprOp::Asin, [](double x) { return std::asin(x); }, map<Sleef_asind4_u10avx2>},
    {"acos", ExprOp::Acos, [](double x) { return std::acos(x); }, map<Sleef_acosd4_u10avx2>},
    {"atan", ExprOp::Atan, [](double x) { return std::atan(x); }, map<Sleef_atand4_u10avx2>},
    {"atanh", ExprOp::Atanh, [](double x) { return std::atanh(x); }, map<Sleef_atanhd4_u10avx2>},
    {"sinh", ExprOp::Sinh, [](double x) { return std::sinh(x); }, map<Sleef_sinhd4_u10avx2>},
    {"cosh", ExprOp::Cosh, [](double x) { return std::cosh(x); }, map<Sleef_coshd4_u10avx2>},
    {"pow 1.5", ExprOp::Pow, [](double x) { return std::pow(x, 1.5); }, map<pow_1_5>, 1.5},
    {"pow 3", ExprOp::Pow, [](double x) { return std::pow(x, 3); }, map<pow_3>, 3},
};

}  // namespace

std::span<const ExactFunction> exact_functions() { return kFunctions; }

LANES void exact_pow(std::span<const float> x, std::span<const float> power, std::span<double> y) {
  for (size_t i = 0; i + kLanes <= x.size(); i += kLanes)
    _mm256_storeu_pd(&y[i], Sleef_powd4_u10avx2(load(&x[i]), load(&power[i])));
}

double ulps(float got, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(got) || std::isnan(got)) return got == nearest ? 0 : INFINITY;
  if (exact == 0 && std::signbit(got) != std::signbit(nearest)) return INFINITY;
  const float size = std::max(std::fabs(nearest), std::numeric_limits<float>::min());
  const float next = std::bit_cast<float>(std::bit_cast<uint32_t>(size) + 1);
  const double place = static_cast<double>(next) - static_cast<double>(size);
  return std::fabs(static_cast<double>(got) - exact) / place;
}

void add_ulps(std::span<const float> x, std::span<const float> got, std::span<const double> exact, Worst& worst) {
  for (size_t i = 0; i + kLanes <= x.size(); i += kLanes)
    for (int lanes = doubtful(&got[i], &exact[i], worst.distance); lanes != 0; lanes &= lanes - 1) {
      const size_t at = i + static_cast<size_t>(std::countr_zero(static_cast<unsigned>(lanes)));
      worst.add(x[at], ulps(got[at], exact[at]));
    }
}

}  // namespace ingot::jit
