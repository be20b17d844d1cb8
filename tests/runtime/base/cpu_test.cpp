#include "runtime/base/cpu.h"

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

TEST(Cpu, NamesRoundTrip) {
  for (const Cpu cpu : {Cpu::Any, Cpu::Avx2, Cpu::Avx512, Cpu::Avx512Bf16, Cpu::Amx})
    EXPECT_EQ(parse_cpu(cpu_name(cpu)), cpu);
}

TEST(Cpu, UnknownNamesAreListed) {
  try {
    parse_cpu("neon");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_STREQ(error.what(), "CPU 'neon' is not known; one of any, avx2, avx512, avx512_bf16, amx is wanted");
  }
}

TEST(Cpu, DetectionAgreesWithTheCompilersView) {
  const Cpu cpu = detect_cpu();
  EXPECT_EQ(cpu >= Cpu::Avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(cpu >= Cpu::Avx512, __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                                    __builtin_cpu_supports("avx512dq"));
}

}  // namespace
}  // namespace ingot
