#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/jit/compiled_func.h"
#include "runtime/tir/builder.h"
#include "tests/runtime/jit/exact_functions.h"

namespace ingot::jit {
namespace {

using tir::ExprOp;

// y[i] = op(x[i])
std::unique_ptr<const CompiledFunc> compile(const ExactFunction& function, int64_t count, Cpu cpu) {
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

// A compiled function with memory of its own.
class Runner {
 public:
  explicit Runner(std::unique_ptr<const CompiledFunc> func)
      : func_(std::move(func)), memory_(func_->scratch_bytes() + 64) {}

  void run(std::vector<std::byte*> buffers) {
    auto* scratch = memory_.data() + (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64) % 64;
    ASSERT_FALSE(func_->run(buffers, {}, scratch, nullptr, {}).failed);
  }

 private:
  std::unique_ptr<const CompiledFunc> func_;
  std::vector<std::byte> memory_;
};

std::byte* bytes_of(std::vector<float>& values) { return reinterpret_cast<std::byte*>(values.data()); }

std::vector<Cpu> machines() {
  std::vector<Cpu> result;
  for (const Cpu cpu : {Cpu::Avx512, Cpu::Avx2})
    if (detect_cpu() >= cpu) result.push_back(cpu);
  return result;
}

class VectorMath : public testing::TestWithParam<ExactFunction> {};

// Do the two references agree? Both are right to a few units of a double's last place, but for SLEEF's sinh and cosh,
// which are infinite a little early: as floats these are so from 89 on.
void expect_near(double lanes, double libm, float x) {
  if (lanes == libm || (std::isnan(lanes) && std::isnan(libm))) return;
  const auto as_float = static_cast<float>(libm);
  if (std::isinf(as_float) && static_cast<float>(lanes) == as_float) return;
  const double size = std::max(std::fabs(libm), 0x1p-300);
  ASSERT_LE(std::fabs(lanes - libm), size * 0x1p-40) << lanes << " and " << libm << " of " << x;
}

// The worst of every `stride`-th float of [first, last), for each machine.
void sweep(const ExactFunction& function, uint64_t first, uint64_t last, uint64_t stride, std::vector<Worst>& worst) {
  constexpr size_t kCount = 4096;
  std::vector<Runner> runners;
  for (const Cpu cpu : machines()) {
    auto compiled = compile(function, kCount, cpu);
    ASSERT_TRUE(compiled);
    runners.emplace_back(std::move(compiled));
  }
  std::vector<float> x(kCount), y(kCount);
  std::vector<double> exact(kCount);
  worst.resize(runners.size());
  size_t checked = 0;
  for (uint64_t next = first; next < last;) {
    for (size_t i = 0; i < kCount; ++i, next += stride) x[i] = std::bit_cast<float>(static_cast<uint32_t>(next));
    function.exact_lanes(x, exact);
    checked = (checked + 1237) % kCount;
    ASSERT_NO_FATAL_FAILURE(expect_near(exact[checked], function.exact(static_cast<double>(x[checked])), x[checked]));
    for (size_t m = 0; m < runners.size(); ++m) {
      runners[m].run({bytes_of(x), bytes_of(y)});
      add_ulps(x, y, exact, worst[m]);
    }
  }
}

// Every float in `INGOT_SOAK=1`, on two threads, or those of INGOT_FLOATS=FIRST:LAST by their bits; else one of some
// thousand.
TEST_P(VectorMath, IsWithinFourUlp) {
  constexpr uint64_t kAll = uint64_t{1} << 32;
  uint64_t first = 0, last = kAll, stride = 40009;
  if (const char* asked = std::getenv("INGOT_FLOATS"); asked != nullptr) {
    char* end = nullptr;
    first = std::strtoull(asked, &end, 0);
    if (*end == ':') last = std::strtoull(end + 1, nullptr, 0);
    stride = 1;
  } else if (std::getenv("INGOT_SOAK") != nullptr) {
    stride = 1;
  }
  const uint64_t middle = first + (last - first) / 2;
  std::vector<Worst> lower, upper;
  std::thread half([&] { sweep(GetParam(), first, middle, stride, lower); });
  sweep(GetParam(), middle, last, stride, upper);
  half.join();
  ASSERT_EQ(lower.size(), machines().size());
  ASSERT_EQ(upper.size(), machines().size());
  for (size_t m = 0; m < lower.size(); ++m) {
    lower[m].add(upper[m].x, upper[m].distance);
    EXPECT_LE(lower[m].distance, 4) << cpu_name(machines()[m]) << " at " << lower[m].x;
    std::cout << cpu_name(machines()[m]) << ": " << lower[m].distance << " ulp at " << lower[m].x << std::endl;
  }
}

TEST(Ulps, LanesCountAsOneByOne) {
  const float inf = INFINITY, nan = NAN;
  const std::vector<float> got = {1,   1.0000002f, -0.0f,   0, inf,     inf, nan, 1,
                                  nan, 1e-45f,     -3e-45f, 0, 3.4e38f, 2,   -5,  7};
  const std::vector<double> exact = {1,   1,   0,      0,     INFINITY, 3.5e38,    NAN, NAN,
                                     1.0, 0.0, -1e-45, 1e-50, INFINITY, 2.0000001, 5,   7.0000014};
  for (size_t i = 0; i < got.size(); ++i) {
    const std::vector<float> x = {1, 2, 3, 4}, y = {1, 1, got[i], 1};
    const std::vector<double> e = {1, 1, exact[i], 1};
    Worst worst;
    add_ulps(x, y, e, worst);
    const double distance = ulps(got[i], exact[i]);
    EXPECT_TRUE(worst.distance == distance || (worst.distance == 0 && distance <= 0.5))
        << got[i] << " for " << exact[i] << ": " << worst.distance << ", " << distance;
  }
}

TEST_P(VectorMath, SpecialValues) {
  std::vector<float> x = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 1e-45f, -1e-45f, 3.4e38f, -3.4e38f};
  for (const Cpu cpu : machines()) {
    auto compiled = compile(GetParam(), static_cast<int64_t>(x.size()), cpu);
    ASSERT_TRUE(compiled);
    std::vector<float> y(x.size());
    Runner(std::move(compiled)).run({bytes_of(x), bytes_of(y)});
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_LE(ulps(y[i], GetParam().exact(static_cast<double>(x[i]))), 4)
          << cpu_name(cpu) << " of " << x[i] << ": " << y[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, VectorMath, testing::ValuesIn(exact_functions().begin(), exact_functions().end()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::erase_if(name, [](char c) { return c == ' ' || c == '.'; });
                           return name;
                         });

// Bases and exponents of all sizes and signs, half of them such that the result is a number.
TEST(VectorMathOfTwo, PowIsWithinFourUlp) {
  constexpr int64_t kCount = 4096;
  const int rounds = std::getenv("INGOT_SOAK") != nullptr ? 100'000 : 40;
  tir::FuncBuilder f("f");
  const PrimExpr n = make_sym_var("n");
  const auto a = f.input("a", DType::Float32, {n}), b = f.input("b", DType::Float32, {n});
  f.compute(f.output("c", DType::Float32, {n}),
            [&](const tir::Indices& i) { return tir::binary(ExprOp::Pow, f.load(a, i), f.load(b, i)); });
  const tir::PrimFunc func = f.finish();
  const std::vector<std::vector<int64_t>> dims(3, {kCount});
  for (const Cpu cpu : machines()) {
    auto compiled = CompiledFunc::compile(func, dims, {}, cpu, 1);
    ASSERT_TRUE(compiled);
    Runner runner(std::move(compiled));
    std::mt19937 random(7);
    std::uniform_real_distribution<float> exponent(-40, 40), power(-3, 3);
    std::vector<float> x(kCount), y(kCount), z(kCount);
    std::vector<double> exact(kCount);
    Worst worst;
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = i % 2 == 0 ? std::bit_cast<float>(static_cast<uint32_t>(random())) : std::exp2(exponent(random));
        y[i] = i % 4 == 0   ? std::bit_cast<float>(static_cast<uint32_t>(random()))
               : i % 4 == 1 ? std::nearbyint(exponent(random))
                            : power(random);
      }
      runner.run({bytes_of(x), bytes_of(y), bytes_of(z)});
      exact_pow(x, y, exact);
      const size_t some = static_cast<size_t>(round) * 1237 % x.size();
      ASSERT_NO_FATAL_FAILURE(expect_near(exact[some], std::pow(double{x[some]}, double{y[some]}), x[some]));
      add_ulps(x, z, exact, worst);
    }
    EXPECT_LE(worst.distance, 4) << cpu_name(cpu) << ", base " << worst.x;
    std::cout << worst.distance << " ulp at base " << worst.x << std::endl;
  }
}

}  // namespace
}  // namespace ingot::jit
