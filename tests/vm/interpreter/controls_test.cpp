// What stops a run: budget, deadline, cancel token, memory limit; and what it leaves behind.
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>

#include "tests/vm/interpreter/programs.h"
#include "vm/executable/text.h"
#include "vm/loader/function_plan.h"

namespace ingot::vm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

bool soaking() { return std::getenv("INGOT_SOAK") != nullptr; }

// @main counts n down in tail calls, @forever never ends, @grind runs one PrimFunc on n elements n times over, @dot
// too, for two results, @grow makes tuples of tuples without end, @two needs two tensors of n floats at once.
constexpr std::string_view kProgram = R"(
prim_func @grind(A: Buffer[(n,), float32], B: Buffer[(n,), float32]) {
  for i in n {
    for j in n reduce {
      B[i] = B[i] + A[j] * 0.5f32;
    }
  }
}
prim_func @dot(A: Buffer[(n,), float32], B: Buffer[(2,), float32]) {
  for i in 2 {
    for j in n reduce {
      for k in n reduce {
        B[i] = B[i] + A[j] * A[k];
      }
    }
  }
}
kernel k0 = prim_func 1 -> 1 of 0
kernel k1 = lrn 1 -> 1
kernel k2 = prim_func 1 -> 1 of 1

func @main exported params 1 registers 4 {
  signature fn(Tensor[(), int64]) -> Tensor[(), int64]
  check t0 = (Tensor[(), int64],)
  code check_params t0, [] tail_call r0, @down
}
func @down params 1 registers 4 {
  signature fn(Tensor[(), int64]) -> Tensor[(), int64]
  code
    load_int r1, int64, 0
    equal.i64 r2, r0, r1
    jump_if r2, L
    load_int r1, int64, 1
    sub.i64 r0, r0, r1
    tail_call r0, @down
  L:
    return r0
}
func @forever exported params 0 registers 1 {
  signature fn() -> Tensor[(), int64]
  code tail_call r0, @again
}
func @again params 0 registers 1 {
  signature fn() -> Tensor[(), int64]
  code tail_call r0, @again
}
func @loop exported params 0 registers 2 {
  signature fn() -> Tensor[(), int64]
  code
  L:
    loop []
    jump L
}
func @grind exported params 1 registers 4 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
  storage s0 = float32 (n,)
  check t0 = (Tensor[(n,), float32],) binds (1)
  source "grind.relax"
  code
    at 3:5
    check_params t0, [r1]
    plan [r1]
    new_tensor r2, s0
    at 4:5
    call_kernel k0, [r0, r2]
    kill r0
    return r2
}
func @dot exported params 1 registers 4 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Tensor[(2,), float32]
  storage s0 = float32 (2,)
  check t0 = (Tensor[(n,), float32],) binds (1)
  code
    check_params t0, [r1]
    plan [r1]
    new_tensor r2, s0
    call_kernel k2, [r0, r2]
    kill r0
    return r2
}
func @grow exported params 0 registers 4 {
  signature fn() -> Object
  code
    load_none r0
  L:
    loop [r0 any owned]
    make_tuple r1, [r0]
    move r0, r1
    jump L
}
func @two exported params 1 registers 4 {
  vars n
  signature fn(Tensor[(1, 2, n, 1), float32]) -> Tensor[(1, 2, n, 1), float32]
  storage s0 = float32 (1, 2, n, 1)
  check t0 = (Tensor[(1, 2, n, 1), float32],) binds (1)
  code
    check_params t0, [r1]
    plan [r1]
    alloc_tensor r2, s0
    call_kernel k1, [r0, r2]
    new_tensor r3, s0
    call_kernel k1, [r2, r3]
    kill r0
    return r3
}
)";

std::shared_ptr<Session> session(bool jit = false) {
  LoadOptions options;
  options.jit = jit;
  return Session::create(Executable::from_program(assemble(kProgram), options));
}

Value zeros(std::vector<int64_t> dims) {
  auto tensor = make_tensor(nullptr, DType::Float32, dims);
  std::fill_n(tensor->data, tensor->bytes, std::byte{0});
  return Value(std::move(tensor));
}

Value run(Session& session, std::string_view function, const RunOptions& options = {}) {
  return session.run(function, std::span<const Value>(), options);
}

Fault fault_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Fault& fault) {
    return fault;
  }
  throw std::logic_error("no fault was raised");
}

TEST(Controls, TailCallsRunInConstantMemory) {
  const auto s = session();
  RunOptions options;
  options.frame_limit = size_t{64} << 10;
  options.memory_limit = size_t{64} << 10;
  const int64_t turns = soaking() ? 1'000'000'000 : 5'000'000;
  EXPECT_EQ(run_one<int64_t>(*s, "main", {turns}, options).slot().as<int64_t>(), 0);
  EXPECT_EQ(s->memory().peak, 0u);
}

// A second of polls would read the clock some ten million times; one of 1,024 does.
TEST(Controls, TheClockIsReadEvery1024Polls) {
  for (const std::string_view function : {"forever", "loop"}) {
    const auto s = session();
    RunOptions options;
    options.deadline = std::chrono::nanoseconds(1);
    options.instruction_budget = 1000;
    EXPECT_EQ(fault_of([&] { run(*s, function, options); }).code(), ErrorCode::ResourceExhausted);
    options.instruction_budget = 2 * 1024 + 10;
    EXPECT_EQ(fault_of([&] { run(*s, function, options); }).code(), ErrorCode::DeadlineExceeded);
  }
}

TEST(Controls, ABudgetIsChargedForKernels) {
  const auto s = session();
  const std::vector<Value> args{zeros({1000})};
  RunOptions options;
  options.instruction_budget = 100'000;
  const Fault fault = fault_of([&] { s->run("grind", args, options); });
  EXPECT_EQ(fault.code(), ErrorCode::ResourceExhausted);
  EXPECT_THAT(fault.what(), HasSubstr("100000"));
  options.instruction_budget = 2'000'000;
  EXPECT_NO_THROW(s->run("grind", args, options));
}

// The time from cancel() to the end of the run, in kernels that take seconds.
TEST(Controls, KernelsAreStoppedFromWithin) {
  for (const bool jit : {false, true})
    for (const std::string_view function : {"grind", "dot"}) {
      const auto s = session(jit);
      const std::vector<Value> args{zeros({200'000})};
      const auto token = std::make_shared<CancelToken>();
      RunOptions options;
      options.cancel = token;
      steady_clock::time_point cancelled;
      std::thread canceller([&] {
        std::this_thread::sleep_for(milliseconds(30));
        cancelled = steady_clock::now();
        token->cancel();
      });
      const Fault fault = fault_of([&] { s->run(function, args, options); });
      const auto ended = steady_clock::now();
      canceller.join();
      EXPECT_EQ(fault.code(), ErrorCode::Cancelled);
      const double late = std::chrono::duration<double, std::milli>(ended - cancelled).count();
      RecordProperty("milliseconds", std::to_string(late));
      // The kernel polls at least every 10 ms; the rest is for a busy machine.
      EXPECT_LT(late, 200.0) << function << (jit ? ", compiled" : ", interpreted");
      EXPECT_NO_THROW(run_one<int64_t>(*s, "main", {10}));
    }
}

TEST(Controls, DeadlinesStopKernelsAndCode) {
  const auto s = session();
  RunOptions options;
  options.deadline = milliseconds(20);
  const std::vector<Value> args{zeros({200'000})};
  const auto start = steady_clock::now();
  const Fault fault = fault_of([&] { s->run("grind", args, options); });
  EXPECT_LT(steady_clock::now() - start, milliseconds(500));
  EXPECT_EQ(fault.code(), ErrorCode::DeadlineExceeded);
  EXPECT_THAT(fault.what(), HasSubstr("20 ms"));
  ASSERT_EQ(fault.frames().size(), 1u);
  EXPECT_EQ(fault.frames()[0].function, "grind");
  EXPECT_EQ(fault.frames()[0].line, 4u);
  EXPECT_THAT(fault.backtrace(), HasSubstr("(grind.relax:4)"));
  EXPECT_EQ(fault_of([&] { run(*s, "forever", options); }).code(), ErrorCode::DeadlineExceeded);
  EXPECT_EQ(fault_of([&] { run(*s, "loop", options); }).code(), ErrorCode::DeadlineExceeded);
}

TEST(Controls, MemoryIsLimitedAndComesBack) {
  const auto s = session();
  RunOptions options;
  options.memory_limit = size_t{1} << 20;
  const Fault fault = fault_of([&] { run(*s, "grow", options); });
  EXPECT_EQ(fault.code(), ErrorCode::ResourceExhausted);
  EXPECT_THAT(fault.what(), HasSubstr("the memory limit is 1048576 bytes"));
  EXPECT_EQ(s->memory().in_use, 0u);
  EXPECT_LE(s->memory().peak, options.memory_limit);
  EXPECT_NO_THROW(run_one<int64_t>(*s, "main", {10}));
}

TEST(Controls, AKnownPeakIsRefusedBeforeTheRun) {
  const auto s = session();
  const uint32_t two = *s->executable()->find("two");
  const std::vector<int64_t> dims{1000};
  const KnownPeak peak = s->executable()->plan(two, dims)->peak;
  EXPECT_TRUE(peak.whole);
  const std::vector<Value> args{zeros({1, 2, 1000, 1})};
  RunOptions options;
  options.memory_limit = peak.bytes;
  s->recycle(s->run("two", args, options));
  EXPECT_EQ(s->memory().peak, peak.bytes);

  const auto other = session();
  options.memory_limit = peak.bytes - 1;
  const Fault fault = fault_of([&] { other->run("two", args, options); });
  EXPECT_EQ(fault.code(), ErrorCode::ResourceExhausted);
  EXPECT_EQ(fault.what(),
            fmt::format("@two takes {} bytes of memory, the memory limit is {}", peak.bytes, options.memory_limit));
  EXPECT_EQ(other->memory().peak, 0u);
  options.memory_limit = 100;
  EXPECT_THAT(fault_of([&] { other->run("two", args, options); }).what(), HasSubstr("the memory limit is 100"));
}

TEST(Controls, BranchesAndCallsLeaveThePeakOpen) {
  const auto s = session();
  const std::vector<int64_t> dims{3};
  EXPECT_TRUE(s->executable()->plan(*s->executable()->find("grind"), dims)->peak.whole);
  const auto branching = Executable::from_program(assemble(R"(
const c0 = scalar bool 1
func @main exported params 0 registers 3 {
  signature fn() -> Object
  storage s0 = float32 (1000,)
  code plan [] new_tensor r0, s0 load_const r1, c0 jump_if r1, L kill r0 new_tensor r0, s0 L: return r0
})"));
  const KnownPeak peak = branching->plan(0, {})->peak;
  EXPECT_FALSE(peak.whole);
  EXPECT_GT(peak.bytes, 4000u);
  EXPECT_LT(peak.bytes, 6000u);
}

// What cannot be reached has no place in the plan.
TEST(Controls, ThePeakEndsWhereThePathEnds) {
  const auto executable = Executable::from_program(assemble(R"(
kernel k0 = lrn 1 -> 1
func @main exported params 0 registers 3 {
  signature fn() -> Object
  storage s0 = float32 (1, 1, 1, 1000)
  code plan [] tail_call r0, @other new_tensor r0, s0 call_kernel k0, [r0, r0]
}
func @other params 0 registers 1 { signature fn() -> Object code load_none r0 return r0 })"));
  const KnownPeak peak = executable->plan(0, {})->peak;
  EXPECT_FALSE(peak.whole);
  EXPECT_LT(peak.bytes, 4000u);
}

}  // namespace
}  // namespace ingot::vm::testing
