#include "runtime/memory/arena.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

TEST(Arena, SegmentsAreAlignedApartAndLastInFirstOut) {
  MemoryAccount account;
  Arena arena(account);
  std::byte* a = arena.push(10);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
  const auto mark = arena.mark();
  std::byte* b = arena.push(100);
  EXPECT_EQ(b - a, 64);
  std::memset(b, 1, 100);
  EXPECT_EQ(account.statistics().in_use, 192u);
  arena.pop(mark);
  EXPECT_EQ(account.statistics().in_use, 64u);
  EXPECT_EQ(arena.push(100), b);
  EXPECT_EQ(account.statistics().system_allocations, 1u);
}

TEST(Arena, SegmentsNeverMove) {
  MemoryAccount account;
  Arena arena(account);
  std::vector<std::byte*> segments;
  for (int i = 0; i < 200; ++i) {
    segments.push_back(arena.push(10'000));
    std::memset(segments.back(), i, 10'000);
  }
  for (int i = 0; i < 200; ++i) EXPECT_EQ(static_cast<int>(segments[static_cast<size_t>(i)][9'999]), i);
}

TEST(Arena, RepeatedRunsDoNotAskTheSystem) {
  MemoryAccount account;
  Arena arena(account);
  const auto run = [&] {
    const auto mark = arena.mark();
    for (const size_t bytes : {100, 5'000'000, 100, 70'000, 20'000'000}) std::memset(arena.push(bytes), 1, bytes);
    arena.pop(mark);
  };
  run();
  run();
  const auto asked = account.statistics().system_allocations;
  for (int i = 0; i < 10; ++i) run();
  EXPECT_EQ(account.statistics().system_allocations, asked);
  EXPECT_EQ(account.statistics().in_use, 0u);
  arena.trim();
  EXPECT_EQ(account.statistics().kept, 0u);
}

TEST(Arena, TheLimitHolds) {
  MemoryAccount account;
  account.set_limit(100'000);
  Arena arena(account);
  arena.push(60'000);
  const auto mark = arena.mark();
  try {
    arena.push(60'000);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::ResourceExhausted);
  }
  EXPECT_EQ(arena.mark().offset, mark.offset);
  EXPECT_THROW(arena.push(SIZE_MAX), Error);
  arena.push(30'000);
  EXPECT_LE(account.statistics().in_use + account.statistics().kept, 100'000u);
}

TEST(Arena, EmptySegmentsAreAllowed) {
  MemoryAccount account;
  Arena arena(account);
  EXPECT_NE(arena.push(0), nullptr);
  EXPECT_EQ(account.statistics().in_use, 0u);
}

TEST(Arena, TrimKeepsLiveSegments) {
  MemoryAccount account;
  Arena arena(account);
  std::byte* live = arena.push(100);
  const auto mark = arena.mark();
  arena.push(1'000'000);
  arena.pop(mark);
  arena.trim();
  std::memset(live, 1, 100);
  arena.pop({});
  arena.trim();
  EXPECT_EQ(account.statistics().kept, 0u);
}

TEST(Arena, RandomStacksKeepTheAccountExact) {
  std::mt19937 random(7);
  MemoryAccount account;
  Arena arena(account);
  std::vector<std::pair<Arena::Mark, size_t>> stack;
  size_t live = 0;
  for (int i = 0; i < 5000; ++i) {
    if (stack.empty() || random() % 5 < 3) {
      const size_t bytes = random() % (random() % 10 == 0 ? 300'000 : 3'000);
      stack.emplace_back(arena.mark(), (bytes + 63) / 64 * 64);
      std::memset(arena.push(bytes), i, bytes);
      live += stack.back().second;
    } else {
      for (size_t n = random() % stack.size() + 1; n > 0; --n) {
        arena.pop(stack.back().first);
        live -= stack.back().second;
        stack.pop_back();
      }
    }
    ASSERT_EQ(account.statistics().in_use, live);
  }
}

}  // namespace
}  // namespace ingot
