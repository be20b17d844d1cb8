#include "runtime/jit/compiled_func.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/convert.h"
#include "runtime/jit/reorder_loops.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/text.h"

namespace ingot::jit {
namespace {

using Dims = std::vector<std::vector<int64_t>>;

tir::PrimFunc parse(const std::string& text) {
  size_t offset = 0;
  return tir::parse(text, offset);
}

// Memory for a function's buffers; each begins `shift` elements behind an address aligned to 64.
class Memory {
 public:
  Memory(const tir::PrimFunc& func, const Dims& dims, size_t shift) {
    uint32_t random = 12345;
    for (size_t i = 0; i < func.params; ++i) {
      size_t count = 1;
      for (const int64_t dim : dims[i]) count *= static_cast<size_t>(dim);
      const DType dtype = func.buffers[i].dtype;
      const size_t size = dtype_bytes(dtype);
      sizes_.push_back(count * size);
      storage_.emplace_back(count * size + 64 + shift * size);
      auto* base = storage_.back().data();
      base += (64 - reinterpret_cast<uintptr_t>(base) % 64) % 64 + shift * size;
      addresses_.push_back(base);
      with_element(dtype, [&]<typename T>() {
        for (size_t at = 0; at < count; ++at) {
          random = random * 1664525 + 1013904223;
          store_element(base + at * sizeof(T), convert<T>(static_cast<double>(random >> 24) / 8 - 12));
        }
      });
    }
  }
  std::span<std::byte* const> addresses() const { return addresses_; }
  bool same(size_t i, const Memory& other) const {
    return std::memcmp(addresses_[i], other.addresses_[i], sizes_[i]) == 0;
  }

 private:
  std::vector<std::vector<std::byte>> storage_;
  std::vector<std::byte*> addresses_;
  std::vector<size_t> sizes_;
};

std::vector<std::byte> scratch_of(size_t bytes) { return std::vector<std::byte>(bytes + 64); }
std::byte* aligned(std::vector<std::byte>& memory) {
  return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
}

struct Options {
  Cpu cpu = Cpu::Avx512;
  int threads = 1;
  size_t shift = 1;
  bool must_compile = true;
};

void expect_same(const std::string& text, const Dims& dims, const Options& options) {
  const auto func = std::make_shared<const tir::PrimFunc>(parse(text));
  const auto compiled = CompiledFunc::compile(*func, dims, {}, options.cpu, options.threads);
  ASSERT_EQ(compiled != nullptr, options.must_compile) << text;
  if (!compiled) return;
  const tir::Interpreter interpreter(func, dims, {});
  const Memory expected(*func, dims, 0), got(*func, dims, options.shift);
  auto one = scratch_of(interpreter.scratch_bytes()), two = scratch_of(compiled->scratch_bytes());
  const auto reference = interpreter.run(expected.addresses(), {}, aligned(one), {});
  const ThreadTeam team(options.threads);
  const auto status = compiled->run(got.addresses(), {}, aligned(two), &team, {});
  ASSERT_EQ(status.failed, reference.failed) << text;
  if (status.failed) return;
  for (size_t i = 0; i < func->params; ++i) EXPECT_TRUE(got.same(i, expected)) << func->buffers[i].name << "\n" << text;
}

std::vector<Cpu> machines() {
  std::vector<Cpu> result;
  for (const Cpu cpu : {Cpu::Avx2, Cpu::Avx512})
    if (detect_cpu() >= cpu) result.push_back(cpu);
  return result;
}

const char* const kDTypes[] = {"bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
                               "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};

TEST(CompiledFunc, CastsBetweenAllDtypesAtVectorBorders) {
  for (const Cpu cpu : machines())
    for (const std::string from : kDTypes)
      for (const std::string to : kDTypes)
        for (const int64_t n : {1, 17})
          expect_same("prim_func @f(A: Buffer[(n,), " + from + "], B: Buffer[(n,), " + to +
                          "]) { for i in n parallel { B[i] = cast(A[i], " + to + "); } }",
                      {{n}, {n}}, {.cpu = cpu});
}

TEST(CompiledFunc, ArithmeticAtVectorBorders) {
  for (const Cpu cpu : machines())
    for (const std::string dtype : kDTypes) {
      if (dtype == "bool") continue;
      for (const int64_t n : {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129})
        expect_same(
            "prim_func @f(A: Buffer[(n,), " + dtype + "], B: Buffer[(n,), " + dtype + "], C: Buffer[(n,), " + dtype +
                "]) { for i in n parallel { C[i] = select(A[i] < B[i], max(A[i] * B[i], A[i]), min(A[i] - B[i], "
                "-(B[i]))) + abs(A[i]); } }",
            {{n}, {n}, {n}}, {.cpu = cpu});
    }
}

TEST(CompiledFunc, IntegerDivisionAndShifts) {
  for (const Cpu cpu : machines())
    for (const std::string dtype : {"int8", "int32", "int64", "uint16", "uint64"}) {
      const std::string head = "prim_func @f(A: Buffer[(n,), " + dtype + "], B: Buffer[(n,), " + dtype +
                               "], C: Buffer[(n,), " + dtype + "]) { for i in n parallel { ";
      expect_same(head + "C[i] = A[i] / B[i]; } }", {{200}, {200}, {200}}, {.cpu = cpu});
      expect_same(
          head + "C[i] = A[i] / select(B[i] == cast(0i32, " + dtype + "), cast(3i32, " + dtype + "), B[i]); } }",
          {{200}, {200}, {200}}, {.cpu = cpu});
    }
}

// T is kept in the row of Y, unless X, on which Y may lie, is read behind it.
std::string scaled_rows(const std::string& result) {
  return "prim_func @f(X: Buffer[(5, m), float32], out Y: Buffer[(5, m), float32]) { for i in 5 parallel { "
         "alloc S: Buffer[(), float32]; alloc T: Buffer[(m,), float32]; "
         "for j in m { T[j] = X[i, j] * exp(X[i, j] * 0f32); } S[] = 0f32; for k in m reduce { S[] = max(S[], T[k]); } "
         "for j in m { Y[i, j] = " +
         result + "; } } }";
}

TEST(CompiledFunc, KeepsRowsInTheOutput) {
  for (const Cpu cpu : machines())
    for (const int64_t m : {1, 16, 37, 1000})
      for (const std::string result : {"T[j] * S[]", "T[j] * S[] + X[i, m - 1 - j]", "T[m - 1 - j] * S[]"}) {
        expect_same(scaled_rows(result), {{5, m}, {5, m}}, {.cpu = cpu, .threads = 2});
        const auto func = parse(scaled_rows(result));
        const auto compiled = CompiledFunc::compile(func, Dims{{5, m}, {5, m}}, {}, cpu, 1);
        const bool kept = result == "T[j] * S[]";
        EXPECT_EQ(compiled->scratch_bytes() < (m == 1000 ? 4000u : 0u), kept && m == 1000) << result;
        if (!kept) continue;
        const Memory apart(func, {{5, m}, {5, m}}, 0), shared(func, {{5, m}, {5, m}}, 0);
        auto scratch = scratch_of(compiled->scratch_bytes());
        std::byte* const both[] = {shared.addresses()[0], shared.addresses()[0]};
        ASSERT_FALSE(compiled->run(apart.addresses(), {}, aligned(scratch), nullptr, {}).failed);
        ASSERT_FALSE(compiled->run(both, {}, aligned(scratch), nullptr, {}).failed);
        EXPECT_EQ(std::memcmp(both[0], apart.addresses()[1], static_cast<size_t>(5 * m) * sizeof(float)), 0);
      }
}

// NaN wherever an element is greater than 19.8, in steps of several registers, in tails and not at all.
TEST(CompiledFunc, FindsNaNAmongTheGreatest) {
  for (const Cpu cpu : machines())
    for (const int64_t m : {1, 7, 16, 37, 64, 200})
      for (const std::string fold : {"max", "min"}) {
        const std::string x = "select(X[i, k] > 19.8f32, (X[i, k] - X[i, k]) / (X[i, k] - X[i, k]), X[i, k])";
        expect_same(
            "prim_func @f(X: Buffer[(40, m), float32], out Y: Buffer[(40,), float32]) { for i in 40 parallel { "
            "alloc S: Buffer[(), float32]; S[] = " +
                std::string(fold == "max" ? "-inff32" : "inff32") + "; for k in m reduce { S[] = " + fold + "(S[], " +
                x + "); } Y[i] = select(S[] == S[], S[], 1000f32); } }",
            {{40, m}, {40}}, {.cpu = cpu});
      }
}

// More than a second cache holds, so that the first loop of a row runs ahead of the last one of the row before.
TEST(CompiledFunc, RunsTheFirstLoopOfARowAhead) {
  const std::string text =
      "prim_func @f(X: Buffer[(n, m), float32], out Y: Buffer[(n, m), float32]) { for i in n parallel { "
      "alloc S: Buffer[(), float32]; alloc T: Buffer[(m,), float32]; alloc R: Buffer[(), float32]; "
      "S[] = -inff32; for k in m reduce { S[] = max(S[], X[i, k]); } "
      "for j in m { T[j] = (X[i, j] - S[]) * exp(X[i, j] * 0f32); } R[] = 0f32; for k in m reduce { R[] = min(R[], "
      "T[k]); } "
      "for j in m { Y[i, j] = T[j] * R[]; } } }";
  for (const Cpu cpu : machines())
    for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{{2, 150'001}, {300, 1000}})
      for (const int threads : {1, 2}) {
        const Dims dims = {{n, m}, {n, m}};
        expect_same(text, dims, {.cpu = cpu, .threads = threads});
        const auto func = parse(text);
        const auto compiled = CompiledFunc::compile(func, dims, {}, cpu, threads);
        const Memory apart(func, dims, 0), shared(func, dims, 0);
        auto scratch = scratch_of(compiled->scratch_bytes());
        const ThreadTeam team(threads);
        std::byte* const both[] = {shared.addresses()[0], shared.addresses()[0]};
        ASSERT_FALSE(compiled->run(apart.addresses(), {}, aligned(scratch), &team, {}).failed);
        ASSERT_FALSE(compiled->run(both, {}, aligned(scratch), &team, {}).failed);
        EXPECT_EQ(std::memcmp(both[0], apart.addresses()[1], static_cast<size_t>(n * m) * sizeof(float)), 0);
      }
}

// An iteration that reads what an earlier one left in a temporary runs behind it, however many threads there are.
TEST(CompiledFunc, KeepsIterationsInOrderThatReadWhatOthersLeft) {
  const std::string text =
      "prim_func @f(X: Buffer[(n, m), float32], out Y: Buffer[(n, m), float32]) { for i in n parallel { "
      "alloc T: Buffer[(m,), float32]; for j in m { if (X[i, j] > 5f32) { T[j] = X[i, j]; } } "
      "for j in m { Y[i, j] = T[j]; } } }";
  for (const Cpu cpu : machines())
    for (const int threads : {1, 2}) expect_same(text, {{600, 500}, {600, 500}}, {.cpu = cpu, .threads = threads});
}

// The loops of three rows in one, or those of two where memory is far; whole steps and tails, and rows that have no
// neighbours.
TEST(CompiledFunc, RunsTheLoopsOfNeighbouringRowsTogether) {
  const std::string text =
      "prim_func @f(X: Buffer[(n, m), float32], out Y: Buffer[(n, m), float32]) { for i in n parallel { "
      "alloc S: Buffer[(), float32]; alloc T: Buffer[(m,), float32]; alloc R: Buffer[(), float32]; "
      "alloc Q: Buffer[(), float32]; alloc L: Buffer[(), float32]; "
      "S[] = -inff32; L[] = X[i, 0]; for k in m reduce { S[] = max(S[], X[i, k]); L[] = min(L[], X[i, k]); } "
      "for j in m { T[j] = (X[i, j] - S[] + L[]) * exp(X[i, j] * 0f32); } R[] = 0f32; "
      "for k in m reduce { R[] = min(R[], T[k]); } Q[] = 0.5f32 * R[]; for j in m { Y[i, j] = T[j] * Q[]; } } }";
  const auto func = parse(text);
  for (const Cpu cpu : machines())
    for (const auto& [n, m] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 40}, {2, 16}, {3, 7}, {5, 37}, {40, 1000}, {41, 64}, {2, 3000}}) {
      const Dims dims = {{n, m}, {n, m}};
      for (const int threads : {1, 2}) expect_same(text, dims, {.cpu = cpu, .threads = threads});
      const auto compiled = CompiledFunc::compile(func, dims, {}, cpu, 1);
      const auto shaped = ShapedFunc::compile(func, dims, std::vector<uint32_t>{1, 1}, cpu, 1);
      ASSERT_TRUE(shaped);
      const auto for_rows = shaped->at(dims, 1);
      const Memory apart(func, dims, 0), shared(func, dims, 0), other(func, dims, 0);
      auto scratch = scratch_of(compiled->scratch_bytes() + for_rows->scratch_bytes());
      std::byte* const both[] = {shared.addresses()[0], shared.addresses()[0]};
      ASSERT_FALSE(compiled->run(apart.addresses(), {}, aligned(scratch), nullptr, {}).failed);
      ASSERT_FALSE(compiled->run(both, {}, aligned(scratch), nullptr, {}).failed);
      ASSERT_FALSE(for_rows->run(other.addresses(), {}, aligned(scratch), nullptr, {}).failed);
      EXPECT_EQ(std::memcmp(both[0], apart.addresses()[1], static_cast<size_t>(n * m) * sizeof(float)), 0);
      EXPECT_TRUE(other.same(1, apart));
    }
}

// Half of what is read and written is stored past the caches, where a register's worth of it fills a line: the rows of
// as many functions of 64 rows each.
TEST(CompiledFunc, StoresRowsPastTheCaches) {
  const std::string text =
      "prim_func @f(X: Buffer[(n, m), float32], out Y: Buffer[(n, m), float32]) { for i in n parallel { "
      "alloc S: Buffer[(), float32]; alloc T: Buffer[(m,), float32]; alloc R: Buffer[(), float32]; "
      "S[] = -inff32; for k in m reduce { S[] = max(S[], X[i, k]); } "
      "for j in m { T[j] = exp(X[i, j] - S[]); } R[] = 0f32; for k in m reduce { R[] = max(R[], T[k]); } "
      "for j in m { Y[i, j] = T[j] * (0.5f32 + R[]); } } }";
  const auto func = parse(text);
  struct Case {
    int64_t m;
    int threads;
    size_t shift;
  };
  for (const Cpu cpu : machines())
    for (const auto& [m, threads, shift] : {Case{1008, 2, 0}, Case{1008, 1, 1}, Case{1001, 1, 0}}) {
      const int64_t block = 64, n = ((1 << 22) / m / block + 2) * block;
      const Dims dims = {{n, m}, {n, m}}, part_dims = {{block, m}, {block, m}};
      const auto bytes = static_cast<size_t>(block * m) * sizeof(float);
      const auto part = CompiledFunc::compile(func, part_dims, {}, cpu, 1);
      const auto whole = CompiledFunc::compile(func, dims, {}, cpu, threads);
      // The row itself, where it is not kept in the output.
      EXPECT_EQ(whole->scratch_bytes() > static_cast<size_t>(m) * sizeof(float), cpu >= Cpu::Avx512 && m % 16 == 0);
      const ThreadTeam team(threads);
      const Memory memory(func, dims, shift), apart(func, part_dims, 0);
      auto scratch = scratch_of(whole->scratch_bytes() + part->scratch_bytes());
      ASSERT_FALSE(whole->run(memory.addresses(), {}, aligned(scratch), &team, {}).failed);
      bool same = true;
      for (int64_t row = 0; row < n; row += block) {
        const size_t at = static_cast<size_t>(row * m) * sizeof(float);
        std::byte* const buffers[] = {memory.addresses()[0] + at, apart.addresses()[1]};
        ASSERT_FALSE(part->run(buffers, {}, aligned(scratch), nullptr, {}).failed);
        same &= std::memcmp(buffers[1], memory.addresses()[1] + at, bytes) == 0;
      }
      EXPECT_TRUE(same) << m << " elements, shifted by " << shift;
    }
}

TEST(CompiledFunc, TransposesInTilesAndAtTheirBorders) {
  for (const Cpu cpu : machines())
    for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{{16, 16}, {5, 7}, {33, 50}, {64, 48}, {17, 600}})
      for (const std::string dtype : {"float32", "int8", "float64"})
        expect_same("prim_func @f(A: Buffer[(2, n, m), " + dtype + "], B: Buffer[(2, m, n), " + dtype +
                        "]) { for a in 2 parallel { for i in m { for j in n { B[a, i, j] = A[a, j, i]; } } } }",
                    {{2, n, m}, {2, m, n}}, {.cpu = cpu, .threads = 2});
}

// Several sums of each column, and what is computed from them, in loops of their own.
TEST(CompiledFunc, SumsOfColumnsAndWhatComesOfThem) {
  const auto text = [](const std::string& kind) {
    return "prim_func @f(X: Buffer[(a, n, m), int32], out Y: Buffer[(a, m), int32], out Z: Buffer[(a, m), int32]) { "
           "for i in a parallel { for j in m" +
           kind +
           " { alloc S: Buffer[(), int32]; alloc Q: Buffer[(), int32]; S[] = 3i32; "
           "for k in n reduce { S[] = S[] + X[i, k, j]; } Y[i, j] = S[] * 2i32; Q[] = 0i32; "
           "for k in n reduce { Q[] = Q[] + (X[i, k, j] - Y[i, j]) * X[i, k, j]; } Z[i, j] = Q[] + S[]; } } }";
  };
  for (const Cpu cpu : machines())
    for (const int64_t m : {1, 15, 16, 37, 700})
      for (const int64_t n : {1, 2, 60})
        for (const int threads : {1, 2}) {
          expect_same(text(""), {{3, n, m}, {3, m}, {3, m}}, {.cpu = cpu, .threads = threads});
          expect_same(text(" parallel"), {{1, n, m}, {1, m}, {1, m}}, {.cpu = cpu, .threads = threads});
        }
}

// What the next column reads is computed in front of it.
TEST(CompiledFunc, SumsOfColumnsThatNeedTheOneBefore) {
  for (const Cpu cpu : machines())
    expect_same(
        "prim_func @f(X: Buffer[(40, 50), int32], Y: Buffer[(51,), int32]) { for j in 50 { alloc S: Buffer[(), int32]; "
        "S[] = Y[j]; for k in 40 reduce { S[] = S[] + X[k, j]; } Y[j + 1] = S[] + 1i32; } }",
        {{40, 50}, {51}}, {.cpu = cpu});
}

// Sums of integers, so that their order does not count.
// In blocks of columns, which threads share.
TEST(CompiledFunc, SumsOfLongRows) {
  for (const Cpu cpu : machines())
    expect_same(
        "prim_func @f(A: Buffer[(4, 300, 256), float32], B: Buffer[(300, 256), float32]) { for i in 300 parallel { "
        "for j in 256 { B[i, j] = 0f32; for k in 4 reduce { B[i, j] = B[i, j] + A[k, i, j]; } } } }",
        {{4, 300, 256}, {300, 256}}, {.cpu = cpu, .threads = 2});
}

// One block of columns, cut for threads where that leaves whole lines; the order of each sum is the same.
TEST(CompiledFunc, ThreadsShareTheColumnsOfASum) {
  const auto func = parse(
      "prim_func @f(A: Buffer[(m, n), float32], B: Buffer[(n,), float32]) { for i in n parallel { B[i] = 0f32; "
      "for k in m reduce { B[i] = B[i] + A[k, i] * 0.1f32; } } }");
  for (const auto& [n, parts] : std::vector<std::pair<int64_t, int64_t>>{{4096, 2}, {8192, 2}, {720, 3}, {1000, 0}}) {
    const Dims dims = {{200, n}, {n}};
    tir::Nest nest = tir::make_nest(func, dims, {});
    interchange_sums(nest, 2);
    const auto& loop = std::get<tir::NestLoop>(nest.body[0].node);
    EXPECT_EQ(nest.body.size(), parts == 0 ? 2u : 1u);
    if (parts != 0) {
      EXPECT_EQ(loop.kind, tir::LoopKind::Parallel);
      EXPECT_TRUE(loop.extent.is_const(parts)) << n;
    }
    for (const Cpu cpu : machines()) {
      const Memory one(func, dims, 1), two(func, dims, 1);
      for (const auto& [threads, memory] : {std::pair(1, &one), std::pair(2, &two)}) {
        const auto compiled = CompiledFunc::compile(func, dims, {}, cpu, threads);
        auto scratch = scratch_of(compiled->scratch_bytes());
        const ThreadTeam team(threads);
        ASSERT_FALSE(compiled->run(memory->addresses(), {}, aligned(scratch), &team, {}).failed);
      }
      EXPECT_TRUE(one.same(1, two)) << n;
    }
  }
}

TEST(CompiledFunc, SumsOverEachAxis) {
  for (const Cpu cpu : machines())
    for (const char* at : {"A[i, j, k]", "A[i, k, j]", "A[k, i, j]"})
      for (const int64_t n : {5, 33, 34, 40})
        expect_same(
            "prim_func @f(A: Buffer[(n, n, n), int32], B: Buffer[(n, n), int32]) { for i in n parallel { for j in n { "
            "B[i, j] = 3i32; for k in n reduce { B[i, j] = B[i, j] + " +
                std::string(at) + "; } } } }",
            {{n, n, n}, {n, n}}, {.cpu = cpu, .threads = 2});
}

TEST(CompiledFunc, ConditionsOfInnerLoopsInTheTail) {
  for (const Cpu cpu : machines())
    for (const int64_t m : {5, 16, 17, 31, 33})
      expect_same(
          "prim_func @f(A: Buffer[(4, m), float32], B: Buffer[(4, m), float32]) { for i in 4 parallel { for j in m { "
          "B[i, j] = 0f32; for k in 2 reduce { B[i, j] = B[i, j] + select(index(i + k < 4) != 0i64, A[i, j], 0f32); } "
          "} } }",
          {{4, m}, {4, m}}, {.cpu = cpu});
}

TEST(CompiledFunc, RowsInPrivateTemporariesOfThreads) {
  for (const Cpu cpu : machines())
    expect_same(
        "prim_func @f(A: Buffer[(300, 90), int32], B: Buffer[(300, 90), int32]) { for i in 300 parallel { alloc T: "
        "Buffer[(90,), int32]; for j in 90 { T[j] = A[i, j] * A[i, j]; } for k in 90 { B[i, k] = T[89 - k] + A[i, k]; "
        "} } }",
        {{300, 90}, {300, 90}}, {.cpu = cpu, .threads = 2});
}

// Stored past the caches where aligned, as usual where not.
TEST(CompiledFunc, LargeOutputs) {
  for (const size_t shift : {0, 1})
    for (size_t i = 0; i < machines().size(); ++i)
      if (i % 2 == shift)
        expect_same(
            "prim_func @f(A: Buffer[(8400000,), int32], B: Buffer[(8400000,), int32]) { for i in 8400000 parallel { "
            "B[i] = A[i] + 7i32; } }",
            {{8400000}, {8400000}}, {.cpu = machines()[i], .shift = shift});
}

TEST(CompiledFunc, IsPolledAndStops) {
  for (const Cpu cpu : machines()) {
    const auto func = parse(
        "prim_func @f(A: Buffer[(4000000,), int32], B: Buffer[(4000000,), int32]) { for i in 4000000 parallel { B[i] = "
        "A[i]; } }");
    const Dims dims = {{4000000}, {4000000}};
    const auto compiled = CompiledFunc::compile(func, dims, {}, cpu, 1);
    ASSERT_TRUE(compiled);
    const Memory memory(func, dims, 0);
    auto scratch = scratch_of(compiled->scratch_bytes());
    int polls = 0;
    const auto stop = [](void* context) { return ++*static_cast<int*>(context) == 2; };
    const auto status = compiled->run(memory.addresses(), {}, aligned(scratch), nullptr, {stop, &polls});
    EXPECT_TRUE(status.failed);
    EXPECT_EQ(status.code, ErrorCode::Cancelled);
    EXPECT_EQ(polls, 2);
  }
}

// An iteration of the outermost loop is too long to wait for: its statements run in pieces.
TEST(CompiledFunc, IsPolledWithinLongIterations) {
  const int64_t count = 70'000'000;
  const auto func = parse(
      "prim_func @f(A: Buffer[(3,), int32], B: Buffer[(3,), int32]) { for i in 3 parallel { alloc S: Buffer[(), "
      "int32]; "
      "S[] = A[i]; for k in " +
      std::to_string(count) + " reduce { S[] = S[] + A[i]; } B[i] = S[] + 1i32; } }");
  const Dims dims = {{3}, {3}};
  for (const Cpu cpu : machines())
    for (const int threads : {1, 2}) {
      const auto compiled = CompiledFunc::compile(func, dims, {}, cpu, threads);
      ASSERT_TRUE(compiled);
      const Memory memory(func, dims, 0);
      auto scratch = scratch_of(compiled->scratch_bytes());
      const ThreadTeam team(threads);
      int polls = 0;
      const auto count_polls = [](void* context) { return ++*static_cast<int*>(context) == -1; };
      ASSERT_FALSE(compiled->run(memory.addresses(), {}, aligned(scratch), &team, {count_polls, &polls}).failed);
      EXPECT_GE(polls, count >> 20);
      for (int i = 0; i < 3; ++i) {
        const auto a = load_element<int32_t>(memory.addresses()[0] + 4 * i);
        EXPECT_EQ(load_element<int32_t>(memory.addresses()[1] + 4 * i),
                  static_cast<int32_t>(static_cast<int64_t>(a) * (count + 1) + 1));
      }
      const auto stop = [](void* context) { return ++*static_cast<int*>(context) == 3; };
      polls = 0;
      EXPECT_EQ(compiled->run(memory.addresses(), {}, aligned(scratch), &team, {stop, &polls}).code,
                ErrorCode::Cancelled);
      EXPECT_EQ(polls, 3);
    }
}

// More than the last cache holds, with tails.
TEST(CompiledFunc, SumsOfWhatOnlyMemoryHolds) {
  if (machines().empty()) GTEST_SKIP() << "no generated code on this machine";
  expect_same(
      "prim_func @f(A: Buffer[(8200, 1027), int32], B: Buffer[(8200,), int32]) { for i in 8200 parallel { "
      "B[i] = 0i32; for k in 1027 reduce { B[i] = B[i] + A[i, k]; } } }",
      {{8200, 1027}, {8200}}, {.cpu = machines().back(), .threads = 2});
}

TEST(CompiledFunc, NothingIsCompiledForOtherMachines) {
  expect_same("prim_func @f(A: Buffer[(n,), int32], B: Buffer[(n,), int32]) { for i in n { B[i] = A[i]; } }",
              {{9}, {9}}, {.cpu = Cpu::Any, .must_compile = false});
}

}  // namespace
}  // namespace ingot::jit
