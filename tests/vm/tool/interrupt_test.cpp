#include "vm/tool/interrupt.h"

#include <thread>

#include <unistd.h>

#include <gtest/gtest.h>

#include "vm/executable/text.h"
#include "vm/executable/writer.h"

namespace ingot::tool {
namespace {

constexpr std::string_view kForever = R"(
func @main exported params 0 registers 1 { signature fn() -> Object code tail_call r0, @again }
func @again params 0 registers 1 { signature fn() -> Object code tail_call r0, @again }
func @two exported params 0 registers 1 { signature fn() -> Object code load_int r0, int32, 2 return r0 }
)";

ingot_status status_of_run(api::Session& session, const api::RunOptions& options) {
  try {
    session.run("main", options);
  } catch (const api::Error& error) {
    return error.status();
  }
  return INGOT_INTERNAL;
}

TEST(Interrupt, AnotherThreadCancelsThroughTheCTable) {
  api::Session session(api::Executable::load(vm::write_program(vm::assemble(kForever))));
  api::RunOptions options;
  options.cancel = api::CancelToken();
  std::thread other([token = *options.cancel]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    token.cancel();
  });
  EXPECT_EQ(status_of_run(session, options), INGOT_CANCELLED);
  other.join();
  EXPECT_EQ(status_of_run(session, options), INGOT_CANCELLED);
  options.cancel->reset();
  session.run("two", options);
  EXPECT_EQ(session.output(0).item<int32_t>(), 2);
}

TEST(Interrupt, CtrlCCancelsARun) {
  api::Session session(api::Executable::load(vm::write_program(vm::assemble(kForever))));
  const CancelOnInterrupt interrupt;
  api::RunOptions options;
  options.cancel = interrupt.token();
  std::thread other([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(getpid(), SIGINT);
  });
  EXPECT_EQ(status_of_run(session, options), INGOT_CANCELLED);
  other.join();
}

}  // namespace
}  // namespace ingot::tool
