#include "runtime/jit/rare_functions.h"

#include <immintrin.h>

// Declared here, since sleef.h shows them only where everything is compiled for AVX2.
#define UNARY_FUNCTIONS(X)      \
  X(tan, Sleef_tanf8_u10avx2)   \
  X(asin, Sleef_asinf8_u10avx2) \
  X(acos, Sleef_acosf8_u10avx2) \
  X(atan, Sleef_atanf8_u10avx2) \
  X(atanh, Sleef_atanhf8_u10avx2)
#define BINARY_FUNCTIONS(X)       \
  X(atan2, Sleef_atan2f8_u10avx2) \
  X(pow, Sleef_powf8_u10avx2)
extern "C" {
#define DECLARE(name, function) [[gnu::target("avx2,fma")]] __m256 function(__m256);
UNARY_FUNCTIONS(DECLARE)
#undef DECLARE
#define DECLARE(name, function) [[gnu::target("avx2,fma")]] __m256 function(__m256, __m256);
BINARY_FUNCTIONS(DECLARE)
#undef DECLARE
}

namespace ingot::jit {
namespace {

using tir::ExprOp;

constexpr uint32_t kStep = 8;

[[gnu::target("avx2")]] inline __m256 lanes_of(const void* from, uint32_t lane) {
  return _mm256_loadu_ps(static_cast<const float*>(from) + lane);
}

#define DEFINE(name, function)                                                                                 \
  [[gnu::target("avx2,fma")]] uint32_t name##_lanes(void* result, const void* a, const void*, uint32_t mask) { \
    for (uint32_t lane = 0; mask >> lane != 0; lane += kStep)                                                  \
      _mm256_storeu_ps(static_cast<float*>(result) + lane, function(lanes_of(a, lane)));                       \
    return 0;                                                                                                  \
  }
UNARY_FUNCTIONS(DEFINE)
#undef DEFINE
#define DEFINE(name, function)                                                                                   \
  [[gnu::target("avx2,fma")]] uint32_t name##_lanes(void* result, const void* a, const void* b, uint32_t mask) { \
    for (uint32_t lane = 0; mask >> lane != 0; lane += kStep)                                                    \
      _mm256_storeu_ps(static_cast<float*>(result) + lane, function(lanes_of(a, lane), lanes_of(b, lane)));      \
    return 0;                                                                                                    \
  }
BINARY_FUNCTIONS(DEFINE)
#undef DEFINE

}  // namespace

Helper rare_function(ExprOp op) {
  switch (op) {
    case ExprOp::Tan:
      return tan_lanes;
    case ExprOp::Asin:
      return asin_lanes;
    case ExprOp::Acos:
      return acos_lanes;
    case ExprOp::Atan:
      return atan_lanes;
    case ExprOp::Atanh:
      return atanh_lanes;
    case ExprOp::Atan2:
      return atan2_lanes;
    case ExprOp::Pow:
      return pow_lanes;
    default:
      return nullptr;
  }
}

}  // namespace ingot::jit
