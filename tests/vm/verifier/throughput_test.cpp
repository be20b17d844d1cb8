// Verification takes time in proportion to the code, at 100 MB/s and more of it (release).
#include <ctime>

#include <gtest/gtest.h>

#include "tests/vm/verifier/verify_text.h"

namespace ingot::vm {
namespace {

// Code as compilers emit it: scalars, branches, calls, tuples, kernels in an arena.
std::string block(int i) {
  return fmt::format(R"(
    load_int r3, int32, {0}
    add.i32 r4, r3, r3
    mul.i32 r3, r4, r3
    less.i32 r5, r3, r4
    jump_unless r5, A{0}
    sub.i32 r4, r4, r3
    jump B{0}
  A{0}:
    add.i32 r4, r4, r3
  B{0}:
    alloc_tensor r6, s0
    call_kernel k1, [r2, r6]
    alloc_tensor r7, s0
    call_kernel k1, [r6, r7]
    alias r8, r0
    call r8, @callee
    kill r8
    load_int r8, int32, {0}
    call r8, @typed
    own r9, r8
    copy r8, r9
    make_tuple r8, [r8, r9]
    get_field r9, r8, 0
    kill r8
    kill r9
)",
                     i);
}

Program program_of(int functions, int blocks) {
  std::string code = "plan []\n load_const r2, c0\n";
  for (int i = 0; i < blocks; ++i) code += block(i);
  code += "kill r0 kill r1 load_none r3 return r3";
  Program program = assemble(test::around(code, 2, "storage s0 = float32 (2,)"));
  const Function function = program.functions[0];
  for (int i = 1; i < functions; ++i) program.functions.push_back(function);
  return program;
}

size_t code_bytes(const Program& program) {
  size_t bytes = 0;
  for (const Function& function : program.functions) bytes += function.code.size() * sizeof(CodeUnit);
  return bytes;
}

// Of this thread, so that a busy machine does not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The least of several.
double seconds_for(const Program& program) {
  double least = 1e9;
  for (int round = 0; round < 9; ++round) {
    const double start = processor_seconds();
    verify(program);
    least = std::min(least, processor_seconds() - start);
  }
  return least;
}

TEST(Throughput, GrowsWithTheCodeOnly) {
  for (const auto& [functions, blocks] : {std::pair(1, 600), std::pair(600, 1)}) {
    const Program small = program_of(functions, blocks);
    const Program large = functions == 1 ? program_of(1, 8 * blocks) : program_of(8 * functions, 1);
    const double ratio = static_cast<double>(code_bytes(large)) / static_cast<double>(code_bytes(small));
    const double slow = seconds_for(small);
    const double rate = static_cast<double>(code_bytes(large)) / seconds_for(large) / 1e6;
    RecordProperty("megabytes_per_second", std::to_string(rate));
    std::printf("%d functions of %d blocks: %.1f MB/s of code\n", functions, blocks, rate);
    EXPECT_LT(seconds_for(large), 4 * ratio * slow) << rate << " MB/s";
  }
}

}  // namespace
}  // namespace ingot::vm
