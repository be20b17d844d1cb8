#include <gtest/gtest.h>

#include "jit_compare.h"
#include "runtime/base/convert.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/text.h"

// Functions whose generated code was wrong once: exactly what the interpreter makes of them.
namespace ingot::tir {
namespace {

void expect_exact(std::string_view text, const Dims& dims) {
  size_t offset = 0;
  const PrimFunc func = parse(text, offset);
  check(func);
  std::vector<Bytes> inputs;
  for (size_t i = 0; i < func.params; ++i) {
    Bytes bytes(buffer_bytes(func, dims, i));
    with_element(func.buffers[i].dtype, [&]<typename T>() {
      for (size_t at = 0; at < bytes.size(); at += sizeof(T))
        store_element(bytes.data() + at, convert<T>(static_cast<double>(at / sizeof(T) % 97) - 3));
    });
    inputs.push_back(std::move(bytes));
  }
  std::vector<Bytes> expected = inputs;
  const RunStatus reference = run_interpreter(func, dims, expected);
  for (const Cpu cpu : {Cpu::Avx512, Cpu::Avx2}) {
    if (detect_cpu() < cpu) continue;
    std::vector<Bytes> buffers = inputs;
    const Outcome outcome = run_jit(func, dims, buffers, cpu, ThreadTeam(1));
    ASSERT_TRUE(outcome.compiled) << cpu_name(cpu);
    ASSERT_EQ(outcome.status.failed, reference.failed) << cpu_name(cpu);
    for (size_t i = 0; i < func.params && !reference.failed; ++i)
      EXPECT_TRUE(close_elements(func.buffers[i].dtype, buffers[i], expected[i], 0))
          << cpu_name(cpu) << ", " << func.buffers[i].name << ", "
          << difference(func.buffers[i].dtype, buffers[i], expected[i]);
  }
}

// The indices of checked accesses are int64 in each lane.
TEST(JitCases, ChecksIndicesOfNarrowElementsInWideLanes) {
  expect_exact(R"(prim_func @f(C: Buffer[(m,), bool], out X: Buffer[(n, n + m), float32]) {
    for i in n {
      for j in n + m {
        X[i, j] = cast(C[j], float32);
      }
    }
  })",
               {{33}, {33, 66}});
}

TEST(JitCases, AddsWhatOneLoopMovesInSeveralDimensions) {
  expect_exact(R"(prim_func @f(C: Buffer[(n, m), uint16], T: Buffer[(n + m, m), uint16], out X: Buffer[(m,), uint16]) {
    for i in 5 reduce {
      X[(i * 4 + i) % max(m, 1)] = select(!(2i64 <= i && index(m + 2) > i), C[i, i], T[i + 1, i + -2]);
    }
  })",
               {{4, 6}, {10, 6}, {6}});
}

TEST(JitCases, ScattersHalvesFromEightLanes) {
  expect_exact(
      R"(prim_func @f(B: Buffer[(n + m,), float16], out X: Buffer[(n,), float16], out Y: Buffer[(m,), float16]) {
    for i in m {
      X[i % max(n, 1)] = ceil(floor(B[i]));
    }
  })",
      {{36}, {5}, {31}});
}

// Of tensors taken as vectors: the index comes from memory and may be anything.
TEST(JitCases, DividesIndicesOfUnknownRange) {
  for (const int64_t n : {5, 16, 19})
    expect_exact(R"(prim_func @f(X: Buffer[(5, 33), float32], I: Buffer[(n,), int64], out Y: Buffer[(n,), float32]) {
    for i in n parallel {
      let at = select(I[i] < 0i64, I[i] + 165i64, I[i]);
      Y[i] = X[at / 33, at % 33];
    }
  })",
                 {{5, 33}, {n}, {n}});
}

// Loops that follow each other become one only where each iteration has its own elements.
TEST(JitCases, JoinsLoopsOfOneRow) {
  for (const int64_t m : {1, 15, 16, 33, 64, 130})
    expect_exact(R"(prim_func @f(X: Buffer[(3, m), int32], out Y: Buffer[(3, m), int32]) {
    for i in 3 parallel {
      alloc S: Buffer[(), int32];
      alloc T: Buffer[(m,), int32];
      for j in m { T[j] = X[i, j] * 3i32 + X[i, j]; }
      S[] = 0i32;
      for k in m reduce { S[] = S[] + T[k]; }
      for j in m { Y[i, j] = T[j] * S[]; }
    }
  })",
                 {{3, m}, {3, m}});
}

TEST(JitCases, KeepsLoopsApartThatReadWhatOthersMove) {
  for (const int64_t m : {1, 16, 33, 64})
    expect_exact(R"(prim_func @f(X: Buffer[(3, m), int32], out Y: Buffer[(3, m), int32], out Z: Buffer[(3, m), int32]) {
    for i in 3 parallel {
      alloc S: Buffer[(), int32];
      alloc T: Buffer[(m + 1,), int32];
      T[m] = 7i32;
      for j in m { T[j] = X[i, j] * 3i32; }
      for j in m { Y[i, j] = T[j + 1]; }
      S[] = T[0];
      for j in m { Z[i, j] = T[m - 1 - j] + S[]; }
      for k in m reduce { S[] = S[] + Z[i, k]; }
      Z[i, 0] = S[];
    }
  })",
                 {{3, m}, {3, m}, {3, m}});
}

// A condition below an inner loop, where a step would have several registers.
TEST(JitCases, FindsTheLeastInEachColumn) {
  for (const int64_t m : {1, 16, 33, 70})
    expect_exact(R"(prim_func @argmin(X: Buffer[(17, m), uint32], out Y: Buffer[(m,), int32]) {
    alloc best: Buffer[(m,), uint32];
    for i in m parallel {
      best[i] = X[0, i];
      Y[i] = 0i32;
      for k in 17 {
        if (X[k, i] < best[i]) {
          best[i] = X[k, i];
          Y[i] = cast(k, int32);
        }
      }
    }
  })",
                 {{17, m}, {m}});
}

// A table has more registers than the code around it.
TEST(JitCases, LooksUpWhatTheResultOverwrites) {
  expect_exact(R"(prim_func @f(B: Buffer[(1,), float32], out X: Buffer[(1,), float32]) {
    X[0] = ceil(tanh(B[0]) * 64f32);
  })",
               {{1}, {1}});
}

}  // namespace
}  // namespace ingot::tir
