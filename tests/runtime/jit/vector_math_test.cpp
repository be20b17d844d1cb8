#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/jit/compiled_func.h"
#include "runtime/tir/builder.h"

namespace ingot::jit {
namespace {

using tir::ExprOp;

struct Function {
  const char* name;
  ExprOp op;
  std::function<double(double)> exact;
  double power = 0;  // of Pow
};

// y[i] = op(x[i])
std::unique_ptr<const CompiledFunc> compile(const Function& function, int64_t count, Cpu cpu) {
  const PrimExpr n = make_sym_var("n");
  tir::FuncBuilder f("f");
  const auto x = f.input("x", DType::Float32, {n});
  const auto y = f.output("y", DType::Float32, {n});
  f.compute(y, [&](const tir::Indices& i) {
    if (function.op != ExprOp::Pow) return tir::unary(function.op, f.load(x, i));
    return tir::binary(function.op, f.load(x, i), tir::constant(DType::Float32, function.power));
  });
  const std::vector<std::vector<int64_t>> dims = {{count}, {count}};
  return CompiledFunc::compile(f.finish(), dims, {}, cpu, 1);
}

// The distance in units of the last place of the true value as a float.
double ulps(float got, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(got) || std::isnan(got)) return got == nearest ? 0 : INFINITY;
  if (exact == 0 && std::signbit(got) != std::signbit(nearest)) return INFINITY;
  const float size = std::max(std::fabs(nearest), std::numeric_limits<float>::min());
  const double place = static_cast<double>(std::nextafter(size, INFINITY)) - static_cast<double>(size);
  return std::fabs(static_cast<double>(got) - exact) / place;
}

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Function kFunctions[] = {
    {"exp", ExprOp::Exp, [](double x) { return std::exp(x); }},
    {"log", ExprOp::Log, [](double x) { return std::log(x); }},
    {"tanh", ExprOp::Tanh, [](double x) { return std::tanh(x); }},
    {"sigmoid", ExprOp::Sigmoid, exact_sigmoid},
    {"erf", ExprOp::Erf, [](double x) { return std::erf(x); }},
    {"gelu", ExprOp::Gelu, [](double x) { return x < -40 ? -0.0 : x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }},
    {"sqrt", ExprOp::Sqrt, [](double x) { return std::sqrt(x); }},
    {"rsqrt", ExprOp::Rsqrt, [](double x) { return 1 / std::sqrt(x); }},
    {"sin", ExprOp::Sin, [](double x) { return std::sin(x); }},
    {"cos", ExprOp::Cos, [](double x) { return std::cos(x); }},
    {"tan", ExprOp::Tan, [](double x) { return std::tan(x); }},
    {"asin", ExprOp::Asin, [](double x) { return std::asin(x); }},
    {"acos", ExprOp::Acos, [](double x) { return std::acos(x); }},
    {"atan", ExprOp::Atan, [](double x) { return std::atan(x); }},
    {"atanh", ExprOp::Atanh, [](double x) { return std::atanh(x); }},
    {"sinh", ExprOp::Sinh, [](double x) { return std::sinh(x); }},
    {"cosh", ExprOp::Cosh, [](double x) { return std::cosh(x); }},
    {"pow 1.5", ExprOp::Pow, [](double x) { return std::pow(x, 1.5); }, 1.5},
    {"pow 3", ExprOp::Pow, [](double x) { return std::pow(x, 3); }, 3},
};

void sweep(Cpu cpu, uint64_t stride) {
  constexpr int64_t kCount = 4096;
  for (const Function& function : kFunctions) {
    const auto compiled = compile(function, kCount, cpu);
    ASSERT_TRUE(compiled) << function.name;
    std::vector<float> x(kCount), y(kCount);
    std::vector<std::byte> memory(compiled->scratch_bytes() + 64);
    auto* scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    double worst = 0;
    float worst_at = 0;
    for (uint64_t next = 0; next < uint64_t{1} << 32;) {
      for (float& value : x) {
        value = std::bit_cast<float>(static_cast<uint32_t>(next));
        next += stride;
      }
      std::byte* buffers[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
      ASSERT_FALSE(compiled->run(buffers, {}, scratch, nullptr, {}).failed);
      for (size_t i = 0; i < x.size(); ++i) {
        const double distance = ulps(y[i], function.exact(static_cast<double>(x[i])));
        if (distance <= worst) continue;
        worst = distance;
        worst_at = x[i];
      }
    }
    EXPECT_LE(worst, 4) << function.name << " at " << worst_at;
    testing::Test::RecordProperty(function.name, std::to_string(worst));
  }
}

// Every float in `INGOT_SOAK=1`, else one of some thousand.
uint64_t stride() { return std::getenv("INGOT_SOAK") != nullptr ? 1 : 40009; }

TEST(VectorMath, Avx512IsWithinFourUlp) {
  if (detect_cpu() < Cpu::Avx512) GTEST_SKIP() << "needs AVX-512";
  sweep(Cpu::Avx512, stride());
}

TEST(VectorMath, Avx2IsWithinFourUlp) {
  if (detect_cpu() < Cpu::Avx2) GTEST_SKIP() << "needs AVX2";
  sweep(Cpu::Avx2, stride());
}

TEST(VectorMath, SpecialValues) {
  if (detect_cpu() < Cpu::Avx512) GTEST_SKIP() << "needs AVX-512";
  const std::vector<float> special = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 1e-45f, -1e-45f, 3.4e38f};
  for (const Function& function : kFunctions) {
    const auto compiled = compile(function, static_cast<int64_t>(special.size()), Cpu::Avx512);
    ASSERT_TRUE(compiled);
    auto x = special;
    std::vector<float> y(x.size());
    std::vector<std::byte> memory(compiled->scratch_bytes() + 64);
    auto* scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    std::byte* buffers[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
    ASSERT_FALSE(compiled->run(buffers, {}, scratch, nullptr, {}).failed);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_LE(ulps(y[i], function.exact(static_cast<double>(x[i]))), 4)
          << function.name << " of " << x[i] << ": " << y[i];
  }
}

}  // namespace
}  // namespace ingot::jit
