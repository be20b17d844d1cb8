#include <cmath>

#include <gtest/gtest.h>

#include "functions.h"
#include "jit_compare.h"
#include "runtime/base/convert.h"
#include "runtime/jit/compiled_func.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/nest.h"
#include "runtime/tir/text.h"

// One piece of code for all values of a dimension.
namespace ingot::tir {
namespace {

PrimFunc parsed(std::string_view text) {
  size_t offset = 0;
  PrimFunc func = parse(text, offset);
  check(func);
  return func;
}

std::vector<Bytes> inputs_of(const PrimFunc& func, const Dims& dims) {
  std::vector<Bytes> inputs;
  for (size_t i = 0; i < func.params; ++i) {
    Bytes bytes(buffer_bytes(func, dims, i));
    with_element(func.buffers[i].dtype, [&]<typename T>() {
      for (size_t at = 0; at < bytes.size(); at += sizeof(T))
        store_element(bytes.data() + at, convert<T>(static_cast<double>(at / sizeof(T) % 97) / 8 - 3));
    });
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

// Code made once, run at each of the dimensions.
void expect_same(const PrimFunc& func, const std::vector<Dims>& all, double tolerance = 0) {
  for (const Cpu cpu : {Cpu::Avx512, Cpu::Avx2}) {
    if (detect_cpu() < cpu) continue;
    for (const Dims& dims : all) {
      std::vector<Bytes> buffers = inputs_of(func, dims), expected = buffers;
      ASSERT_FALSE(run_interpreter(func, dims, expected).failed);
      const Outcome outcome = run_shaped(func, dims, buffers, cpu, ThreadTeam(2));
      ASSERT_TRUE(outcome.compiled) << cpu_name(cpu) << "\n" << print(func);
      ASSERT_FALSE(outcome.status.failed);
      for (size_t i = 0; i < func.params; ++i)
        EXPECT_TRUE(close_elements(func.buffers[i].dtype, buffers[i], expected[i], tolerance))
            << cpu_name(cpu) << " at " << dims[0][0] << ", " << func.buffers[i].name << ": "
            << difference(func.buffers[i].dtype, buffers[i], expected[i]);
    }
  }
}

std::vector<Dims> lengths(const std::function<Dims(int64_t)>& of) {
  std::vector<Dims> all;
  for (const int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130, 257}) all.push_back(of(n));
  return all;
}

TEST(Shaped, ElementsOfSeveralDimensions) {
  expect_same(relu_func(), lengths([](int64_t n) { return Dims{{n, 3}, {n, 3}}; }));
  expect_same(relu_func(), lengths([](int64_t n) { return Dims{{3, n}, {3, n}}; }));
}

TEST(Shaped, RowsThatAreAddedUpAndSpread) {
  expect_same(softmax_func(), lengths([](int64_t n) { return Dims{{n, n}, {n, n}}; }), 1e-5);
}

TEST(Shaped, NormsOfRowsOfAKnownLength) {
  const PrimFunc norm = parsed(R"(prim_func @norm(x: Buffer[(n, 64), float32], y: Buffer[(n, 64), float32]) {
    for i in n parallel {
      alloc total: Buffer[(), float32];
      alloc mean: Buffer[(), float32];
      alloc squares: Buffer[(), float32];
      total[] = 0f32;
      for k in 64 reduce { total[] = total[] + x[i, k]; }
      mean[] = total[] / 64f32;
      squares[] = 0f32;
      for k in 64 reduce { squares[] = squares[] + (x[i, k] - mean[]) * (x[i, k] - mean[]); }
      for j in 64 { y[i, j] = (x[i, j] - mean[]) * rsqrt(squares[] / 64f32 + 1e-05f32); }
    }
  })");
  expect_same(norm, lengths([](int64_t n) { return Dims{{n, 64}, {n, 64}}; }), 1e-5);
}

TEST(Shaped, ChainsOfRowsOfAKnownLength) {
  const PrimFunc softmax = parsed(R"(prim_func @softmax(x: Buffer[(n, 64), float32], y: Buffer[(n, 64), float32]) {
    for i in n parallel {
      alloc scale: Buffer[(), float32];
      alloc powers: Buffer[(64,), float32];
      alloc total: Buffer[(), float32];
      alloc greatest: Buffer[(), float32];
      greatest[] = -inff32;
      for k in 64 reduce { greatest[] = max(greatest[], x[i, k]); }
      for j in 64 { powers[j] = exp(x[i, j] - greatest[]); }
      total[] = 0f32;
      for k in 64 reduce { total[] = total[] + powers[k]; }
      scale[] = 1f32 / total[];
      for j in 64 { y[i, j] = powers[j] * scale[]; }
    }
  })");
  expect_same(softmax, lengths([](int64_t n) { return Dims{{n, 64}, {n, 64}}; }), 1e-5);
}

TEST(Shaped, BroadcastsShiftsAndSumsOfDimensions) {
  const PrimFunc func = parsed(
      R"(prim_func @f(x: Buffer[(n, m), float32], b: Buffer[(m,), float32], y: Buffer[(n + 1, m * 2), float32]) {
    for i in n + 1 parallel {
      for j in m * 2 { y[i, j] = x[min(i, n - 1), j % m] + b[m - 1 - j % m]; }
    }
  })");
  for (const auto& dims : lengths([](int64_t n) { return Dims{{n, 5}, {5}, {n + 1, 10}}; })) {
    std::vector<Bytes> buffers = inputs_of(func, dims), expected = buffers;
    run_interpreter(func, dims, expected);
    const Outcome outcome = run_shaped(func, dims, buffers, detect_cpu(), ThreadTeam(1));
    if (!outcome.compiled) continue;
    EXPECT_TRUE(close_elements(DType::Float32, buffers[2], expected[2], 0)) << dims[0][0];
  }
}

// In tiles of any size, in blocks of columns where there are many.
TEST(Shaped, Transposes) {
  if (detect_cpu() < Cpu::Avx512) GTEST_SKIP() << "compiled for each shape";
  const auto transposed = [](std::string_view text, const std::vector<Dims>& all) {
    const PrimFunc func = parsed(text);
    for (const Dims& dims : all)
      for (const int threads : {1, 2}) {
        std::vector<Bytes> buffers = inputs_of(func, dims), expected = buffers;
        ASSERT_FALSE(run_interpreter(func, dims, expected).failed);
        const Outcome outcome = run_shaped(func, dims, buffers, Cpu::Avx512, ThreadTeam(threads));
        ASSERT_TRUE(outcome.compiled) << text;
        ASSERT_FALSE(outcome.status.failed);
        EXPECT_EQ(buffers, expected) << dims[0][0] << " by " << dims[0][1];
        buffers = inputs_of(func, dims);
        ASSERT_TRUE(run_jit(func, dims, buffers, Cpu::Avx512, ThreadTeam(threads)).compiled);
        EXPECT_EQ(buffers, expected) << dims[0][0] << " by " << dims[0][1] << ", compiled for that";
      }
  };
  constexpr std::string_view matrix =
      "prim_func @f(x: Buffer[(n, m), float32], y: Buffer[(m, n), float32]) "
      "{ for i in m parallel { for j in n { y[i, j] = x[j, i]; } } }";
  std::vector<Dims> all;
  for (const int64_t n : {1, 15, 16, 17, 40, 64})
    for (const int64_t m : {1, 2, 16, 31, 33, 511, 512, 513, 1100}) {
      all.push_back({{n, m}, {m, n}});
      all.push_back({{m, n}, {n, m}});
    }
  transposed(matrix, all);
  constexpr std::string_view heads =
      "prim_func @f(x: Buffer[(2, n, 3, 20), float32], y: Buffer[(2, 3, 20, n), float32]) { for b in 2 parallel { "
      "for h in 3 { for i in 20 { for j in n { y[b, h, i, j] = x[b, j, h, i]; } } } } }";
  transposed(heads, lengths([](int64_t n) { return Dims{{2, n, 3, 20}, {2, 3, 20, n}}; }));
  constexpr std::string_view pixels =
      "prim_func @f(x: Buffer[(b, h, w, 3), int32], y: Buffer[(b, 3, h, w), int32]) { for i in b parallel { "
      "for c in 3 { for k in h { for l in w { y[i, c, k, l] = x[i, k, l, c]; } } } } }";
  transposed(pixels, lengths([](int64_t n) { return Dims{{2, n, 5, 3}, {2, 3, n, 5}}; }));
}

// Indices that only the data or the dimensions tell are held against dimensions that only the call tells.
TEST(Shaped, IndicesAreCheckedAgainstDimensionsOfTheCall) {
  const auto compare = [](std::string_view text, const Dims& dims, bool fails) {
    const PrimFunc func = parsed(text);
    for (const Cpu cpu : {Cpu::Avx512, Cpu::Avx2}) {
      if (detect_cpu() < cpu) continue;
      std::vector<Bytes> buffers = inputs_of(func, dims), expected = buffers;
      ASSERT_EQ(run_interpreter(func, dims, expected).failed, fails) << text;
      const Outcome outcome = run_shaped(func, dims, buffers, cpu, ThreadTeam(2));
      ASSERT_TRUE(outcome.compiled) << cpu_name(cpu) << text;
      ASSERT_EQ(outcome.status.failed, fails) << cpu_name(cpu) << text;
      if (fails) {
        EXPECT_EQ(outcome.status.code, ErrorCode::IndexOutOfRange);
      } else {
        EXPECT_EQ(buffers, expected) << cpu_name(cpu) << text << dims[0][0];
      }
    }
  };
  // Elements of i are -3 to 9.
  constexpr std::string_view rows =
      "prim_func @f(x: Buffer[(n, m), float32], i: Buffer[(k,), int64], y: Buffer[(k, m), float32]) { "
      "for a in k parallel { for b in m { let at = i[a] + 3i64; y[a, b] = x[at, b]; } } }";
  constexpr std::string_view elements =
      "prim_func @f(x: Buffer[(n, m), float32], i: Buffer[(k,), int64], y: Buffer[(k,), float32]) { "
      "for a in k parallel { let at = i[a] + 3i64; y[a] = x[at, m - 1]; } }";
  constexpr std::string_view last =
      "prim_func @f(x: Buffer[(m, n), float32], i: Buffer[(k,), int64], y: Buffer[(m, k), float32]) { "
      "for b in m parallel { for a in k { let at = i[a] + 3i64; y[b, a] = x[b, at]; } } }";
  for (const int64_t n : {3, 12, 13, 40})
    for (const int64_t m : {1, 5, 33}) {
      compare(rows, {{n, m}, {100}, {100, m}}, n < 13);
      compare(elements, {{n, m}, {100}, {100}}, n < 13);
      compare(last, {{m, n}, {100}, {m, 100}}, n < 13);
    }
  constexpr std::string_view broadcast =
      "prim_func @f(x: Buffer[(n, 40), float32], y: Buffer[(min(n, 9), 40), float32], z: Buffer[(n, 40), float32]) { "
      "for i in n parallel { for j in 40 { z[i, j] = x[i, j] + y[select(min(n, 9) == 1, 0, i), j]; } } }";
  for (const int64_t n : {1, 2, 9, 10}) compare(broadcast, {{n, 40}, {std::min<int64_t>(n, 9), 40}, {n, 40}}, n > 9);
}

TEST(Shaped, KnowsWhatItDoesNotTake) {
  const PrimFunc func = relu_func();
  const Dims dims = {{4, 5}, {4, 5}};
  EXPECT_EQ(jit::ShapedFunc::compile(func, dims, std::vector<uint32_t>{0, 0}, detect_cpu(), 1), nullptr);
  const auto shaped = jit::ShapedFunc::compile(func, dims, std::vector<uint32_t>{1, 1}, detect_cpu(), 1);
  if (detect_cpu() < Cpu::Avx2) GTEST_SKIP() << "no generated code on this machine";
  ASSERT_NE(shaped, nullptr);
  EXPECT_EQ(shaped->at(Dims{{0, 5}, {0, 5}}, 1), nullptr);
  EXPECT_EQ(shaped->at(Dims{{kMostOfShaped + 1, 5}, {kMostOfShaped + 1, 5}}, 1), nullptr);
  const auto one = shaped->at(Dims{{3, 5}, {3, 5}}, 1), other = shaped->at(Dims{{300, 5}, {300, 5}}, 1);
  EXPECT_EQ(one->work(), 15u);
  EXPECT_EQ(other->work(), 1500u);
}

}  // namespace
}  // namespace ingot::tir
