#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "functions.h"
#include "random_func.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/jit/compiled_func.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/text.h"

// Generated code against the interpreter, over generated functions.
namespace ingot::tir {
namespace {

struct Outcome {
  bool compiled = false;
  RunStatus status;
};

// Buffers at odd multiples of their elements' size, with a margin that must not change.
Outcome run_jit(const PrimFunc& func, const Dims& dims, std::vector<Bytes>& buffers, Cpu cpu) {
  const auto compiled = jit::CompiledFunc::compile(func, dims, {}, cpu, 1);
  if (!compiled) return {};
  constexpr size_t kMargin = 192;
  std::vector<Bytes> memory;
  std::vector<std::byte*> addresses;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const size_t shift = kMargin + dtype_bytes(func.buffers[i].dtype);
    memory.emplace_back(buffers[i].size() + shift + kMargin, std::byte{0x5a});
    addresses.push_back(memory.back().data() + shift);
    if (!buffers[i].empty()) std::memcpy(addresses.back(), buffers[i].data(), buffers[i].size());
  }
  std::vector<std::byte> scratch(compiled->scratch_bytes() + 64);
  auto* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  Outcome outcome{true, compiled->run(addresses, {}, aligned, nullptr, {})};
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto* begin = memory[i].data();
    const auto* end = begin + memory[i].size();
    EXPECT_TRUE(std::all_of(begin, static_cast<const std::byte*>(addresses[i]),
                            [](std::byte b) { return b == std::byte{0x5a}; }));
    EXPECT_TRUE(std::all_of(addresses[i] + buffers[i].size(), const_cast<std::byte*>(end),
                            [](std::byte b) { return b == std::byte{0x5a}; }));
    if (!buffers[i].empty()) std::memcpy(buffers[i].data(), addresses[i], buffers[i].size());
  }
  return outcome;
}

bool close_elements(DType dtype, const Bytes& a, const Bytes& b, double tolerance) {
  return a.size() == b.size() && with_element(dtype, [&]<typename T>() {
           for (size_t at = 0; at < a.size(); at += sizeof(T)) {
             const T x = load_element<T>(a.data() + at);
             const T y = load_element<T>(b.data() + at);
             if (std::memcmp(&x, &y, sizeof(T)) == 0) continue;
             if constexpr (FloatElement<T>) {
               const double p = static_cast<double>(widen(x));
               const double q = static_cast<double>(widen(y));
               if (std::isnan(p) && std::isnan(q)) continue;
               if (std::fabs(p - q) <= tolerance * std::max(std::fabs(q), 1.0)) continue;
             }
             return false;
           }
           return true;
         });
}

bool is_well_formed(const PrimFunc& func) {
  try {
    check(func);
    return true;
  } catch (const Error&) {
    return false;
  }
}

struct Counts {
  int compared = 0, faults = 0, refused = 0, inexact = 0;
};

// Functions without sums and transcendentals are compared bit by bit.
Counts compare_random(Cpu cpu, uint32_t first, uint32_t last) {
  Counts counts;
  for (uint32_t seed = first; seed < last; ++seed) {
    RandomFunc random(seed);
    const PrimFunc func = random.make();
    if (!is_well_formed(func)) continue;
    for (int round = 0; round < 3; ++round) {
      const Dims dims = random.dims();
      std::vector<Bytes> expected = random.inputs(dims);
      std::vector<Bytes> buffers = expected;
      const RunStatus reference = run_interpreter(func, dims, expected);
      const Outcome outcome = run_jit(func, dims, buffers, cpu);
      if (!outcome.compiled) {
        ++counts.refused;
        continue;
      }
      if (outcome.status.failed != reference.failed) {
        ADD_FAILURE() << "seed " << seed << (reference.failed ? " should fault\n" : " faults\n") << print(func);
        return counts;
      }
      ++(reference.failed ? counts.faults : counts.compared);
      for (size_t i = 0; i < func.params && !reference.failed; ++i) {
        const DType dtype = func.buffers[i].dtype;
        if (close_elements(dtype, buffers[i], expected[i], 0)) continue;
        ++counts.inexact;
        if (close_elements(dtype, buffers[i], expected[i], 0.02)) continue;
        ADD_FAILURE() << "seed " << seed << " round " << round << ", " << func.buffers[i].name << "\n" << print(func);
        return counts;
      }
    }
  }
  return counts;
}

void expect_same(Cpu cpu) {
  if (detect_cpu() < cpu) GTEST_SKIP() << "needs " << cpu_name(cpu);
  const Counts counts = compare_random(cpu, 0, 300);
  EXPECT_GT(counts.compared, 200);
  EXPECT_GT(counts.faults, 100);
  EXPECT_LT(counts.refused, counts.compared / 5);
}

TEST(JitProperty, Avx512DoesWhatTheInterpreterDoes) { expect_same(Cpu::Avx512); }
TEST(JitProperty, Avx2DoesWhatTheInterpreterDoes) { expect_same(Cpu::Avx2); }

}  // namespace
}  // namespace ingot::tir
