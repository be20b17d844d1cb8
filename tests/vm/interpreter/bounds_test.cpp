#include <gmock/gmock.h>

#include "programs.h"
#include "runtime/tensor/tensor.h"
#include "vm/executable/reader.h"
#include "vm/executable/text.h"
#include "vm/executable/writer.h"
#include "vm/loader/function_plan.h"

namespace ingot::vm::testing {
namespace {

using ::testing::HasSubstr;

// Two tensors in the arena: one grows with n, the other shrinks.
constexpr std::string_view kProgram = R"(
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k { B[i] = A[i] * 2f32; }
}
prim_func @fill(A: Buffer[(k,), float32], B: Buffer[(j,), float32]) {
  for i in j { B[i] = 1f32; }
}
kernel k0 = prim_func 1 -> 1 of 0
kernel k1 = prim_func 1 -> 1 of 1
func @grow exported params 1 captures 0 registers 6 {
  vars n <= 512
  signature fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  storage s0 = float32 (n,)
  code
    check_params t0, [r1]
    plan [r1]
    alloc_tensor r2, s0
    call_kernel k0, [r0, r2]
    kill r0
    alloc_tensor r3, s0
    call_kernel k0, [r2, r3]
    new_tensor r4, s0
    call_kernel k0, [r3, r4]
    return r4
}
func @shrink exported params 1 captures 0 registers 6 {
  vars n <= 512
  signature fn(Tensor[(n,), float32]) -> Tensor[(1024 - n,), float32]
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  storage s0 = float32 (n,)
  storage s1 = float32 (1024 - n,)
  code
    check_params t0, [r1]
    plan [r1]
    alloc_tensor r2, s0
    call_kernel k0, [r0, r2]
    alloc_tensor r3, s1
    call_kernel k1, [r2, r3]
    kill r0
    new_tensor r4, s1
    call_kernel k0, [r3, r4]
    return r4
}
)";

Value counted_to(int64_t n) {
  auto tensor = make_tensor(nullptr, DType::Float32, {&n, 1});
  for (int64_t i = 0; i < n; ++i) tensor->elements<float>()[i] = static_cast<float>(i);
  return Value(std::move(tensor));
}

Error error_of(Session& session, std::string_view function, int64_t n, const RunOptions& options = {}) {
  const std::vector<Value> args = {counted_to(n)};
  try {
    session.run(function, args, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error for " << n;
  return Error(ErrorCode::Internal, "none");
}

TEST(Bounds, OnePlanServesAllShapes) {
  const auto session = session_of(assemble(kProgram));
  const auto& executable = *session->executable();
  const auto greatest = executable.plan(0, std::vector<int64_t>{512});
  for (const int64_t n : {0, 1, 17, 511}) {
    const auto plan = executable.plan(0, std::vector<int64_t>{n});
    EXPECT_EQ(plan->segment_bytes, greatest->segment_bytes);
    EXPECT_EQ(plan->memory.total, greatest->memory.total);
    for (size_t i = 0; i < plan->sites.size(); ++i) EXPECT_EQ(plan->sites[i].data, greatest->sites[i].data);
  }
  session->recycle(session->run("grow", std::vector<Value>{counted_to(1)}));
  const uint64_t before = session->memory().system_allocations;
  for (int64_t n = 1; n <= 512; ++n) {
    const std::vector<Value> args = {counted_to(n)};
    Value result = session->run("grow", args);
    ASSERT_EQ(result.get<TensorObject>()->elements<float>()[n - 1], 8 * static_cast<float>(n - 1));
    session->recycle(std::move(result));
  }
  // Results of many sizes come from the pool, the arena does not grow.
  EXPECT_LT(session->memory().system_allocations - before, 60u);
}

TEST(Bounds, WhatDoesNotFitIsPlannedByItself) {
  const auto session = session_of(assemble(kProgram));
  const auto& executable = *session->executable();
  const auto greatest = executable.plan(1, std::vector<int64_t>{512});
  EXPECT_GT(executable.plan(1, std::vector<int64_t>{0})->memory.total, greatest->memory.total / 2);
  for (const int64_t n : {0, 1, 100, 512}) {
    const std::vector<Value> args = {counted_to(n)};
    const Value result = session->run("shrink", args);
    const auto& tensor = *result.get<TensorObject>();
    ASSERT_EQ(tensor.dims()[0], 1024 - n);
    for (int64_t i = 0; i < 1024 - n; ++i) ASSERT_EQ(tensor.elements<float>()[i], 2.0f);
  }
}

TEST(Bounds, MoreIsRefusedAtEntry) {
  const auto session = session_of(assemble(kProgram));
  const Error error = error_of(*session, "grow", 513);
  EXPECT_EQ(error.code(), ErrorCode::ShapeMismatch);
  EXPECT_STREQ(error.what(),
               "@grow: dimension n is 513, the executable was compiled for at most 512; compile it with --bound n=513");
  EXPECT_EQ(session->memory().peak, 0u);
  EXPECT_NO_THROW(session->run("grow", std::vector<Value>{counted_to(512)}));
}

TEST(Bounds, LimitsAreHeldAgainstTheWholePlan) {
  const auto session = session_of(assemble(kProgram));
  RunOptions options;
  options.memory_limit = 2'000;
  const Error error = error_of(*session, "grow", 1, options);
  EXPECT_EQ(error.code(), ErrorCode::ResourceExhausted);
  EXPECT_THAT(error.what(), HasSubstr("the memory limit is 2000"));
}

TEST(Bounds, GoThroughTextAndFile) {
  const std::vector<std::byte> bytes = write_program(assemble(kProgram));
  const Program program = read_program(copy_bytes(bytes));
  ASSERT_EQ(program.functions[1].bounds.size(), 1u);
  EXPECT_EQ(program.functions[1].bounds[0].var, 0u);
  EXPECT_EQ(program.functions[1].bounds[0].most, 512);
  EXPECT_EQ(write_program(program), bytes);
  EXPECT_EQ(write_program(assemble(disassemble(program))), bytes);
}

TEST(Bounds, DamagedOnesAreRefused) {
  const auto refused = [](std::vector<Bound> bounds) {
    Program program = assemble(kProgram);
    program.functions[0].bounds = std::move(bounds);
    try {
      Executable::load(write_program(program));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::CorruptFile);
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_THAT(refused({{1, 5}}), HasSubstr("variable 1 has a bound, there are 1"));
  EXPECT_THAT(refused({{0, -3}}), HasSubstr("n is at most -3"));
  EXPECT_THAT(refused({{0, 5}, {0, 6}}), HasSubstr("the bound of variable 0 stands behind that of 0"));
}

// Too large to be planned: every shape gets its own plan.
TEST(Bounds, ABoundMayBeBeyondAllMemory) {
  Program program = assemble(kProgram);
  program.functions[0].bounds[0].most = INT64_MAX;
  const auto session = session_of(std::move(program));
  const Value result = session->run("grow", std::vector<Value>{counted_to(5)});
  EXPECT_EQ(result.get<TensorObject>()->elements<float>()[4], 32.0f);
}

}  // namespace
}  // namespace ingot::vm::testing
