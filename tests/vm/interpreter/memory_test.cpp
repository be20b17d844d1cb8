#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include <unistd.h>

#include <gmock/gmock.h>

#include "programs.h"
#include "runtime/memory/poison.h"
#include "runtime/tensor/tensor.h"
#include "tests/counting_new.h"
#include "vm/executable/text.h"
#include "vm/loader/function_plan.h"

namespace ingot::vm::testing {
namespace {

// Three kernels in a chain, two tensors in the arena.
constexpr std::string_view kChain = R"(
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k { B[i] = A[i] * 2f32; }
}
kernel k0 = prim_func 1 -> 1 of 0
func @main exported params 1 captures 0 registers 6 {
  vars n
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
)";

Value vector_of(int64_t n, float first) {
  auto tensor = make_tensor(nullptr, DType::Float32, {&n, 1});
  for (int64_t i = 0; i < n; ++i) tensor->elements<float>()[i] = first + static_cast<float>(i);
  return Value(std::move(tensor));
}

#if defined(INGOT_POISONS_MEMORY) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t size = 0;
  size_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

float first_of(const Value& value) { return *value.get<TensorObject>()->elements<float>(); }

TEST(Memory, PlansAreMadePerShapeAndKept) {
  const auto executable = Executable::from_program(assemble(kChain));
  const std::vector<int64_t> small = {16};
  const std::vector<int64_t> large = {1600};
  const auto plan = executable->plan(0, small);
  EXPECT_EQ(plan, executable->plan(0, small));
  EXPECT_GE(plan->memory.sum, 2 * 64u);
  EXPECT_GE(plan->memory.total, plan->memory.lower_bound);
  EXPECT_LE(plan->memory.total, plan->memory.sum);
  EXPECT_GE(executable->plan(0, large)->memory.total, 1600u * 4);
  for (int64_t n = 1; n <= 100; ++n) executable->plan(0, std::vector<int64_t>{n + 100});
  EXPECT_NE(plan, executable->plan(0, small));
}

TEST(Memory, RunsOfOneShapeDoNotAllocate) {
  const auto session = session_of(assemble(kChain));
  const std::vector<Value> args = {vector_of(100, 1)};
  for (int i = 0; i < 3; ++i) session->recycle(session->run(0u, args));
  const uint64_t before = test::allocations;
  const uint64_t system_before = session->memory().system_allocations;
  for (int i = 0; i < 100; ++i) {
    Value result = session->run(0u, args);
    ASSERT_EQ(first_of(result), 8.0f);
    session->recycle(std::move(result));
  }
  EXPECT_EQ(test::allocations - before, 0u);
  EXPECT_EQ(session->memory().system_allocations - system_before, 0u);
  EXPECT_EQ(session->memory().in_use, 0u);
}

TEST(Memory, RunsOfAStaticFunctionDoNotAllocate) {
  std::string text(kChain);
  for (const auto& [from, to] : {std::pair{"(n,)", "(100,)"},
                                 {"vars n\n", ""},
                                 {"binds (1)", ""},
                                 {"t0, [r1]", "t0, []"},
                                 {"plan [r1]", "plan []"}})
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, std::strlen(from), to);
  const auto session = session_of(assemble(text));
  const std::vector<Value> args = {vector_of(100, 1)};
  session->recycle(session->run(0u, args));
  const uint64_t before = test::allocations;
  const uint64_t system_before = session->memory().system_allocations;
  for (int i = 0; i < 100; ++i) {
    Value result = session->run(0u, args);
    ASSERT_EQ(first_of(result), 8.0f);
    session->recycle(std::move(result));
  }
  EXPECT_EQ(test::allocations - before, 0u);
  EXPECT_EQ(session->memory().system_allocations - system_before, 0u);
}

TEST(Memory, TrimGivesMemoryBackToTheOperatingSystem) {
  constexpr size_t kElements = size_t{4} << 20;
  const auto session = session_of(assemble(kChain));
  const std::vector<Value> args = {vector_of(kElements, 1)};
  // An arena tensor and a result.
  for (int i = 0; i < 4; ++i) session->recycle(session->run(0u, args));
  const size_t kept = session->memory().kept;
  EXPECT_GE(kept, 2 * kElements * sizeof(float));
  const size_t before = resident_bytes();
  session->trim();
  EXPECT_EQ(session->memory().kept, 0u);
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), before - kept * 9 / 10);
  }
  EXPECT_EQ(first_of(session->run(0u, args)), 8.0f);
}

// A recursive function has a segment of the arena for each activation, and gives it back when it returns.
TEST(Memory, RecursionTakesASegmentPerActivation) {
  const auto session = session_of(assemble(R"(
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k { B[i] = A[i] * 2f32; }
}
kernel k0 = prim_func 1 -> 1 of 0
const c0 = scalar int32 1
func @down exported params 2 captures 0 registers 8 {
  vars n
  signature fn(Tensor[(n,), float32], Tensor[(), int32]) -> Tensor[(), int32]
  names "x", "k"
  check t0 = (Tensor[(n,), float32], Tensor[(), int32]) binds (1)
  storage s0 = float32 (n,)
  code
    check_params t0, [r2]
    plan [r2]
    alloc_tensor r3, s0
    call_kernel k0, [r0, r3]
    load_const r4, c0
    less_equal.i32 r5, r1, r4
    jump_unless r5, L
    kill r0
    return r1
  L:
    sub.i32 r6, r1, r4
    move r5, r0
    call r5, @down
    alloc_tensor r7, s0
    call_kernel k0, [r3, r7]
    return r5
}
)"));
  const size_t segment = session->executable()->plan(0, std::vector<int64_t>{1000})->segment_bytes;
  const auto peak_of = [&](int32_t depth) {
    const std::vector<Value> args = {vector_of(1000, 1), Value::scalar(DType::Int32, depth)};
    session->run(0u, args);
    EXPECT_EQ(session->memory().in_use, 0u);
    return session->memory().peak;
  };
  const size_t one = peak_of(1);
  EXPECT_GE(one, segment);
  for (const int32_t depth : {2, 3, 10}) {
    const size_t more = peak_of(depth) - one;
    EXPECT_GE(more, static_cast<size_t>(depth - 1) * segment);
    EXPECT_LT(more, static_cast<size_t>(depth - 1) * (segment + 64));
  }
}

// Of random sequence lengths, each with a plan and a result of its own. INGOT_SOAK=1: ten thousand.
TEST(Memory, RandomLengthsDoNotGrowTheProcess) {
  const int measured = std::getenv("INGOT_SOAK") != nullptr ? 10'000 : 1'000;
  const auto session = session_of(assemble(kChain));
  std::mt19937 random(7);
  const auto run = [&] {
    const auto n = static_cast<int64_t>(random() % 4096 + 1);
    const std::vector<Value> args = {vector_of(n, 1)};
    ASSERT_EQ(first_of(session->run(0u, args)), 8.0f);
  };
  for (int i = 0; i < 1'000; ++i) run();
  const auto before = static_cast<double>(resident_bytes());
  for (int i = 0; i < measured; ++i) run();
  if (!kSanitized) {
    EXPECT_LT(static_cast<double>(resident_bytes()), 1.01 * before);
  }
  EXPECT_EQ(session->memory().in_use, 0u);
}

TEST(Memory, ManyShapesInTurnAreRight) {
  const auto session = session_of(assemble(kChain));
  for (int round = 0; round < 3; ++round)
    for (int64_t n = 1; n <= 40; ++n) {
      const std::vector<Value> args = {vector_of(n, static_cast<float>(n))};
      const Value result = session->run(0u, args);
      ASSERT_EQ(first_of(result), 8 * static_cast<float>(n));
      ASSERT_EQ(result.get<TensorObject>()->dims()[0], n);
    }
}

TEST(Memory, LimitsAreHeldAndTheSessionGoesOn) {
  const auto session = session_of(assemble(kChain));
  const std::vector<Value> args = {vector_of(1000, 1)};
  RunOptions options;
  options.memory_limit = 2000;
  try {
    session->run(0u, args, options);
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.code(), ErrorCode::ResourceExhausted);
  }
  EXPECT_EQ(session->memory().in_use, 0u);
  EXPECT_EQ(first_of(session->run(0u, args)), 8.0f);
  session->trim();
  EXPECT_EQ(session->memory().kept, 0u);
}

TEST(Memory, ResultsOutliveTheirSession) {
  Value result;
  {
    const auto session = session_of(assemble(kChain));
    result = session->run(0u, std::vector<Value>{vector_of(4, 1)});
  }
  EXPECT_EQ(first_of(result), 8.0f);
}

// What faults release: a closure over a tensor, a tuple of it, and an alias are alive when the division fails.
TEST(Memory, FaultsLeaveNothingBehind) {
  const auto session = session_of(assemble(R"(
func @main exported params 2 captures 0 registers 8 {
  vars n
  signature fn(Tensor[(n,), float32], Tensor[(), int32]) -> Object
  names "x", "d"
  check t0 = (Tensor[(n,), float32], Tensor[(), int32]) binds (1)
  code
    check_params t0, [r2]
    new_tensor_dyn r3, float32, [r2]
    make_tuple r4, [r3]
    copy r5, r4
    make_closure r5, @inner, [r5]
    load_int r6, int32, 0
    move r7, r1
    call_value r6, r5, 0
    kill r0
    kill r4
    return r6
}
func @inner params 0 captures 1 registers 4 {
  signature fn() -> Object
  code
    load_int r1, int32, 1
    load_int r2, int32, 0
    div.i32 r1, r1, r2
    own r0, r0
    return r0
}
)"));
  const std::vector<Value> args = {vector_of(8, 1), Value::scalar(DType::Int32, 0)};
  for (int i = 0; i < 2; ++i) {
    try {
      session->run(0u, args);
      FAIL();
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.code(), ErrorCode::DivisionByZero);
      ASSERT_EQ(fault.frames().size(), 2u);
      EXPECT_EQ(fault.frames()[0].function, "inner");
      EXPECT_EQ(fault.frames()[1].function, "main");
    }
    EXPECT_EQ(session->memory().in_use, 0u);
  }
}

}  // namespace
}  // namespace ingot::vm::testing
