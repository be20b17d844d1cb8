#include "vm/profile/profile.h"

#include <gmock/gmock.h>

namespace ingot::vm {
namespace {

using std::chrono::nanoseconds;

constexpr auto kCode = [](Opcode opcode) { return static_cast<CodeUnit>(opcode); };

TEST(Profile, AddsUpCallsOfOnePlaceAndSortsByTotal) {
  Profile profile;
  const auto start = Profile::Clock::now();
  profile.add_kernel(0, 10, start, start + nanoseconds(5));
  profile.add_kernel(1, 10, start, start + nanoseconds(30));
  profile.add_kernel(0, 10, start, start + nanoseconds(7));
  const auto kernels = profile.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].function, 1u);
  EXPECT_EQ(kernels[1].calls, 2u);
  EXPECT_EQ(kernels[1].nanoseconds, 12u);
}

// main calls f, f calls itself, then main ends in a tail call of g.
void run_once(Profile& profile) {
  profile.begin_run();
  profile.step(2, 0, kCode(Opcode::LoadNone));
  profile.step(2, 0, kCode(Opcode::Call));
  profile.step(3, 1, kCode(Opcode::Call));
  profile.step(4, 1, kCode(Opcode::Return));
  profile.step(3, 1, kCode(Opcode::Return));
  profile.step(2, 0, kCode(Opcode::TailCall));
  profile.step(2, 2, kCode(Opcode::TailCall));
  profile.step(2, 2, kCode(Opcode::Return));
  profile.end_run();
}

uint64_t calls_of(const Profile& profile, uint32_t function) {
  for (const FunctionTime& time : profile.functions())
    if (time.function == function) return time.calls;
  return 0;
}

TEST(Profile, FollowsCallsAndTailCalls) {
  ProfileOptions options;
  options.max_spans = 100;
  Profile profile(options);
  run_once(profile);
  run_once(profile);
  EXPECT_EQ(calls_of(profile, 0), 2u);
  EXPECT_EQ(calls_of(profile, 1), 4u);
  EXPECT_EQ(calls_of(profile, 2), 4u);
  EXPECT_EQ(profile.spans().size(), 10u);
  for (const InstructionTime& time : profile.instructions())
    if (time.opcode == Opcode::Call) {
      EXPECT_EQ(time.count, 4u);
    }
  std::vector<std::vector<uint32_t>> stacks;
  uint64_t of_stacks = 0;
  profile.for_each_stack([&](std::span<const uint32_t> functions, uint64_t time) {
    stacks.emplace_back(functions.begin(), functions.end());
    of_stacks += time;
  });
  EXPECT_THAT(stacks, ::testing::ElementsAre(std::vector<uint32_t>{0}, std::vector<uint32_t>{0, 1},
                                             std::vector<uint32_t>{0, 1, 1}, std::vector<uint32_t>{2}));
  uint64_t of_functions = 0;
  for (const FunctionTime& time : profile.functions()) {
    EXPECT_GE(time.with_callees, time.nanoseconds);
    of_functions += time.nanoseconds;
  }
  EXPECT_EQ(of_stacks, of_functions);
}

TEST(Profile, DeepRecursionAndManySpansAreBounded) {
  ProfileOptions options;
  options.max_spans = 10;
  Profile profile(options);
  profile.begin_run();
  for (size_t depth = 2; depth < 5000; ++depth) profile.step(depth, 0, kCode(Opcode::Call));
  profile.end_run();
  EXPECT_EQ(calls_of(profile, 0), 4998u);
  EXPECT_EQ(profile.spans().size(), 10u);
  EXPECT_EQ(profile.dropped_spans(), 4988u);
  size_t stacks = 0;
  profile.for_each_stack([&](std::span<const uint32_t>, uint64_t) { ++stacks; });
  EXPECT_LE(stacks, 300u);
}

}  // namespace
}  // namespace ingot::vm
