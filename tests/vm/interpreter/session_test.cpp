#include "vm/interpreter/session.h"

#include <thread>

#include <gmock/gmock.h>

#include "programs.h"
#include "runtime/base/convert.h"

namespace ingot::vm::testing {
namespace {

using ::testing::HasSubstr;

const StructInfo kInt = scalar_info(DType::Int32);

// fib(n), and what the host runs: main(n) = fib(n).
Program fib_program() {
  FunctionBuilder fib("fib", {kInt}, kInt, 8);
  const Label recurse = fib.code.new_label();
  fib.code.emit(Opcode::LoadInt, 1, DType::Int32, 2);
  fib.code.emit(Opcode::LessInt32, 2, 0, 1);
  fib.code.emit(Opcode::JumpUnless, 2, recurse);
  fib.code.emit(Opcode::Return, 0);
  fib.code.bind(recurse);
  fib.code.emit(Opcode::LoadInt, 1, DType::Int32, 1);
  fib.code.emit(Opcode::SubInt32, 4, 0, 1);
  fib.code.emit(Opcode::Call, 4, 1);
  fib.code.emit(Opcode::Move, 3, 4);
  fib.code.emit(Opcode::LoadInt, 1, DType::Int32, 2);
  fib.code.emit(Opcode::SubInt32, 4, 0, 1);
  fib.code.emit(Opcode::Call, 4, 1);
  fib.code.emit(Opcode::AddInt32, 3, 3, 4);
  fib.code.emit(Opcode::Return, 3);

  FunctionBuilder main("main", {kInt}, kInt, 2);
  main.exported();
  main.code.emit(Opcode::TailCall, 0, 1);
  Program program;
  program.functions = {main.finish(), fib.finish()};
  return program;
}

// main(n) = down(n); down(n) = n == 0 ? 0 : 1 + down(n - 1), or in tail position without the sum.
Program countdown_program(bool tail) {
  FunctionBuilder down("down", {kInt}, kInt, 4);
  const Label more = down.code.new_label();
  down.code.emit(Opcode::LoadInt, 1, DType::Int32, 0);
  down.code.emit(Opcode::EqualInt32, 2, 0, 1);
  down.code.emit(Opcode::JumpUnless, 2, more);
  down.code.emit(Opcode::Return, 0);
  down.code.bind(more);
  down.code.emit(Opcode::LoadInt, 1, DType::Int32, 1);
  down.code.emit(Opcode::SubInt32, 3, 0, 1);
  if (tail) {
    down.code.emit(Opcode::TailCall, 3, 1);
  } else {
    down.code.emit(Opcode::Call, 3, 1);
    down.code.emit(Opcode::AddInt32, 3, 3, 1);
    down.code.emit(Opcode::Return, 3);
  }
  FunctionBuilder main("main", {kInt}, kInt, 2);
  main.exported();
  main.code.emit(Opcode::TailCall, 0, 1);
  Program program;
  program.functions = {main.finish(), down.finish()};
  return program;
}

int32_t run_int(Session& session, int32_t n, const RunOptions& options = {}) {
  return run_one<int32_t>(session, "main", {n}, options).slot().as<int32_t>();
}

template <typename Body>
Fault fault_of(const Body& body) {
  try {
    body();
  } catch (const Fault& fault) {
    return fault;
  }
  throw std::logic_error("no fault was raised");
}

TEST(Session, RunsRecursiveFunctions) {
  const auto session = session_of(fib_program());
  EXPECT_EQ(run_int(*session, 10), 55);
  EXPECT_EQ(run_int(*session, 20), 6765);
}

TEST(Session, RecursesAMillionDeep) {
  const auto session = session_of(countdown_program(false));
  EXPECT_EQ(run_int(*session, 1'000'000), 1'000'000);
}

TEST(Session, TailCallsTakeNoSpace) {
  const auto session = session_of(countdown_program(true));
  RunOptions options;
  options.frame_limit = 64 << 10;
  EXPECT_EQ(run_int(*session, 10'000'000, options), 0);
}

TEST(Session, EndlessRecursionEndsInAReadableFault) {
  const auto session = session_of(countdown_program(false));
  RunOptions options;
  options.frame_limit = 1 << 20;
  const Fault fault = fault_of([&] { run_int(*session, -1, options); });
  EXPECT_EQ(fault.code(), ErrorCode::ResourceExhausted);
  EXPECT_THAT(fault.what(), HasSubstr("no room for a frame of @down"));
  EXPECT_EQ(fault.frames().size(), 2 * Fault::kShownFrames);
  EXPECT_GT(fault.omitted(), 1000u);
  EXPECT_THAT(fault.backtrace(), HasSubstr("more frames ..."));
  EXPECT_EQ(fault.frames().front().function, "down");
  EXPECT_EQ(run_int(*session, 1000), 1000);
}

TEST(Session, BudgetDeadlineAndCancelStopARun) {
  const auto session = session_of(fib_program());
  RunOptions budget;
  budget.instruction_budget = 10'000;
  EXPECT_EQ(fault_of([&] { run_int(*session, 40, budget); }).code(), ErrorCode::ResourceExhausted);
  RunOptions deadline;
  deadline.deadline = std::chrono::milliseconds(5);
  EXPECT_EQ(fault_of([&] { run_int(*session, 45, deadline); }).code(), ErrorCode::DeadlineExceeded);
  const auto token = std::make_shared<CancelToken>();
  RunOptions cancel;
  cancel.cancel = token;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    token->cancel();
  });
  EXPECT_EQ(fault_of([&] { run_int(*session, 45, cancel); }).code(), ErrorCode::Cancelled);
  canceller.join();
  EXPECT_EQ(run_int(*session, 10), 55);
}

TEST(Session, TheBudgetCountsInstructions) {
  FunctionBuilder main("main", {kInt}, kInt, 2);
  main.exported();
  main.code.emit(Opcode::AddInt32, 1, 0, 0);
  main.code.emit(Opcode::Return, 1);
  Program program;
  program.functions = {main.finish()};
  const auto session = session_of(std::move(program));
  RunOptions options;
  options.instruction_budget = 3;
  EXPECT_EQ(run_int(*session, 4, options), 8);
  options.instruction_budget = 2;
  EXPECT_EQ(fault_of([&] { run_int(*session, 4, options); }).code(), ErrorCode::ResourceExhausted);
}

TEST(Session, CallsNameWhatDoesNotFit) {
  const auto session = session_of(fib_program());
  EXPECT_THROW(run_one<int32_t>(*session, "main", {}), Error);
  const Fault fault = fault_of([&] { run_one<float>(*session, "main", {1.0f}); });
  EXPECT_EQ(fault.code(), ErrorCode::TypeError);
  EXPECT_STREQ(fault.what(), "@main: %a has dtype float32, expected int32");
  try {
    session->run("other", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("@other; the executable exports @main"));
  }
}

TEST(Session, TwoSessionsOfOneExecutableRunOnTwoThreads) {
  const auto executable = Executable::from_program(fib_program());
  std::vector<int32_t> results(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] { results[i] = run_int(*Session::create(executable), static_cast<int32_t>(15 + i)); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results, ::testing::ElementsAre(610, 987, 1597, 2584));
}

TEST(Session, PackedFuncsThatCallBackAreLimited) {
  FunctionBuilder main("main", {kInt}, kInt, 3);
  main.exported();
  main.code.emit(Opcode::CallPacked, 1, 0, RegisterList{0});
  main.code.emit(Opcode::CheckValue, 1, main.check(kInt), RegisterList{});
  main.code.emit(Opcode::Return, 1);
  Program program;
  program.functions = {main.finish()};
  program.imports = {{"again", {}}};
  std::shared_ptr<Session> session;
  SessionOptions options;
  options.registry.add("again", [&](const PackedArgs& args) {
    const auto n = args[0].as<int32_t>();
    if (n == 0) return Value::scalar(DType::Int32, 7);
    return run_one<int32_t>(*session, "main", {n - 1});
  });
  session = session_of(std::move(program), std::move(options));
  EXPECT_EQ(run_int(*session, 100), 7);
  const Fault fault = fault_of([&] { run_int(*session, 1000); });
  EXPECT_EQ(fault.code(), ErrorCode::ResourceExhausted);
  EXPECT_THAT(fault.what(), HasSubstr("200 deep"));
  EXPECT_EQ(run_int(*session, 100), 7);
}

}  // namespace
}  // namespace ingot::vm::testing
