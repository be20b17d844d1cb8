#include "runtime/memory/planner.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

constexpr size_t kAlignment = 64;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool is_alive(const Interval& interval, uint32_t at) {
  return interval.first <= at && at <= interval.last &&
         std::ranges::none_of(interval.gaps, [&](const Life& gap) { return gap.first <= at && at <= gap.last; });
}

bool are_together(const Interval& a, const Interval& b) {
  if (a.gaps.empty() && b.gaps.empty()) return a.first <= b.last && b.first <= a.last;
  for (uint32_t at = std::max(a.first, b.first); at <= std::min(a.last, b.last); ++at)
    if (is_alive(a, at) && is_alive(b, at)) return true;
  return false;
}

// Every promise of the header, checked the slow way.
void check_plan(const std::vector<Interval>& intervals, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), intervals.size());
  size_t sum = 0;
  size_t end = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const Interval& a = intervals[i];
    ASSERT_EQ(plan.offsets[i] % kAlignment, 0u);
    sum += aligned(a.bytes);
    if (a.bytes > 0) end = std::max(end, plan.offsets[i] + aligned(a.bytes));
    for (size_t j = 0; j < i; ++j) {
      const Interval& b = intervals[j];
      const bool together = are_together(a, b);
      const bool apart = plan.offsets[i] + a.bytes <= plan.offsets[j] || plan.offsets[j] + b.bytes <= plan.offsets[i];
      const bool in_place =
          a.in_place_of == static_cast<int32_t>(j) && plan.offsets[i] == plan.offsets[j] && a.bytes <= aligned(b.bytes);
      ASSERT_TRUE(!together || apart || in_place || a.bytes == 0 || b.bytes == 0) << i << " overlaps " << j;
    }
  }
  EXPECT_EQ(plan.total, end);
  EXPECT_EQ(plan.sum, sum);
  EXPECT_GE(plan.total, plan.lower_bound);
  EXPECT_LE(plan.total, plan.sum);
}

std::vector<Interval> random_intervals(size_t count, uint32_t instants, uint32_t longest, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Interval> intervals;
  for (size_t i = 0; i < count; ++i) {
    const auto first = static_cast<uint32_t>(random() % instants);
    const auto last = static_cast<uint32_t>(first + random() % longest);
    intervals.push_back({random() % 100'000, first, last});
    if (i > 0 && random() % 3 == 0) {
      const auto from = static_cast<uint32_t>(random() % i);
      intervals[i] = {random() % 2 == 0 ? intervals[from].bytes : random() % 100'000, intervals[from].last,
                      intervals[from].last + static_cast<uint32_t>(random() % longest), static_cast<int32_t>(from)};
    }
  }
  return intervals;
}

TEST(Planner, NothingNeedsNothing) {
  const MemoryPlan plan = plan_memory({}, kAlignment);
  EXPECT_TRUE(plan.offsets.empty());
  EXPECT_EQ(plan.total, 0u);
  EXPECT_EQ(plan.lower_bound, 0u);
  EXPECT_EQ(plan.sum, 0u);
}

TEST(Planner, AChainNeedsTwoTensors) {
  const std::vector<Interval> chain = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}};
  const MemoryPlan plan = plan_memory(chain, kAlignment);
  check_plan(chain, plan);
  EXPECT_EQ(plan.total, 256u);
  EXPECT_EQ(plan.lower_bound, 256u);
  EXPECT_EQ(plan.sum, 512u);
}

TEST(Planner, AChainInPlaceNeedsOne) {
  const std::vector<Interval> chain = {{100, 0, 1}, {100, 1, 2, 0}, {100, 2, 3, 1}, {100, 3, 4, 2}};
  const MemoryPlan plan = plan_memory(chain, kAlignment);
  check_plan(chain, plan);
  EXPECT_EQ(plan.total, 128u);
  EXPECT_EQ(plan.lower_bound, 128u);
  EXPECT_EQ(plan.offsets, std::vector<size_t>(4, 0));
}

TEST(Planner, ASmallerOneLiesOnItsOrigin) {
  const std::vector<Interval> pair = {{1000, 0, 1}, {100, 1, 2, 0}};
  const MemoryPlan plan = plan_memory(pair, kAlignment);
  check_plan(pair, plan);
  EXPECT_EQ(plan.total, 1024u);
  EXPECT_EQ(plan.lower_bound, 1024u);
}

TEST(Planner, AnIntervalOfOneInstantPassesNothingOn) {
  const std::vector<Interval> chain = {{100, 0, 1}, {100, 1, 1, 0}, {100, 1, 2, 1}};
  const MemoryPlan plan = plan_memory(chain, kAlignment);
  check_plan(chain, plan);
  EXPECT_EQ(plan.total, 256u);
  EXPECT_EQ(plan.lower_bound, 256u);
}

TEST(Planner, ALargerOneDoesNot) {
  const std::vector<Interval> pair = {{100, 0, 1}, {1000, 1, 2, 0}};
  const MemoryPlan plan = plan_memory(pair, kAlignment);
  check_plan(pair, plan);
  EXPECT_EQ(plan.total, 1152u);
  EXPECT_EQ(plan.lower_bound, 1152u);
}

TEST(Planner, OneOriginServesOneHeir) {
  const std::vector<Interval> fork = {{128, 0, 1}, {64, 1, 2, 0}, {128, 1, 2, 0}};
  const MemoryPlan plan = plan_memory(fork, kAlignment);
  check_plan(fork, plan);
  EXPECT_EQ(plan.total, 192u);
  EXPECT_EQ(plan.lower_bound, 192u);
}

TEST(Planner, GapsAreFilledBestFirst) {
  // At instant 1 the large ones leave gaps of 256 and 128 between long-lived blocks.
  const std::vector<Interval> intervals = {{1024, 0, 9}, {512, 0, 0}, {500, 0, 9}, {192, 0, 0},
                                           {190, 0, 9},  {180, 1, 1}, {64, 1, 1}};
  const MemoryPlan plan = plan_memory(intervals, kAlignment);
  check_plan(intervals, plan);
  EXPECT_EQ(plan.total, plan.lower_bound);
}

TEST(Planner, OtherOrdersHelpWhereTheLargestFirstDoesNot) {
  // By size: the largest first, then both of 320 beside it.
  const std::vector<Interval> intervals = {{320, 2, 4}, {320, 1, 1}, {384, 4, 4}, {320, 1, 2}, {64, 4, 5}};
  const MemoryPlan plan = plan_memory(intervals, kAlignment);
  check_plan(intervals, plan);
  EXPECT_EQ(plan.total, plan.lower_bound);
}

TEST(Planner, EmptyTensorsTakeNoPlace) {
  const std::vector<Interval> intervals = {{0, 0, 5}, {64, 0, 5}, {0, 5, 6, 0}};
  const MemoryPlan plan = plan_memory(intervals, kAlignment);
  check_plan(intervals, plan);
  EXPECT_EQ(plan.total, 64u);
}

TEST(Planner, OverflowIsAnError) {
  const std::vector<Interval> huge = {{SIZE_MAX - 10, 0, 1}};
  const std::vector<Interval> many = {{SIZE_MAX / 2, 0, 1}, {SIZE_MAX / 2, 3, 4}, {1000, 7, 8}};
  for (const auto& intervals : {huge, many}) {
    try {
      plan_memory(intervals, kAlignment);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::ResourceExhausted);
    }
  }
}

TEST(Planner, TheLastInstantMayBeTheLargestNumber) {
  const std::vector<Interval> intervals = {{64, 0, UINT32_MAX}, {64, UINT32_MAX, UINT32_MAX, 0}};
  const MemoryPlan plan = plan_memory(intervals, kAlignment);
  check_plan(intervals, plan);
  EXPECT_EQ(plan.total, 64u);
}

TEST(Planner, SamePlanForSameIntervals) {
  const auto intervals = random_intervals(500, 200, 30, 5);
  EXPECT_EQ(plan_memory(intervals, kAlignment).offsets, plan_memory(intervals, kAlignment).offsets);
}

TEST(Planner, PlansOfTerabytesAreThoseOfTheirBytes) {
  auto intervals = random_intervals(1'500, 900, 400, 7);
  for (Interval& interval : intervals) interval.bytes = aligned(interval.bytes);
  const MemoryPlan small = plan_memory(intervals, kAlignment);
  constexpr size_t kScale = size_t{1} << 26;
  for (Interval& interval : intervals) interval.bytes *= kScale;
  const MemoryPlan large = plan_memory(intervals, kAlignment);
  for (size_t i = 0; i < intervals.size(); ++i) ASSERT_EQ(large.offsets[i], small.offsets[i] * kScale) << i;
  EXPECT_EQ(large.total, small.total * kScale);
}

RC_GTEST_PROP(Planner, KeepsItsPromises, (unsigned seed)) {
  const auto count = *rc::gen::inRange<size_t>(0, 60);
  const auto instants = *rc::gen::inRange<uint32_t>(1, 40);
  const auto longest = *rc::gen::inRange<uint32_t>(1, 20);
  const auto intervals = random_intervals(count, instants, longest, seed);
  check_plan(intervals, plan_memory(intervals, kAlignment));
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(Planner, OthersLieInGaps) {
  // The first one is not needed from 2 to 5.
  std::vector<Interval> intervals = {{1000, 0, 9, -1, {{2, 5}}}, {1000, 2, 5}};
  const MemoryPlan plan = plan_memory(intervals, kAlignment);
  check_plan(intervals, plan);
  EXPECT_EQ(plan.total, aligned(1000));
  EXPECT_EQ(plan.lower_bound, aligned(1000));
  intervals[1].last = 6;
  EXPECT_EQ(plan_memory(intervals, kAlignment).total, 2 * aligned(1000));
  intervals[0].gaps = {{0, 3}};
  EXPECT_THROW(plan_memory(intervals, kAlignment), Error);
}

RC_GTEST_PROP(Planner, KeepsItsPromisesWithGaps, (unsigned seed)) {
  const auto count = *rc::gen::inRange<size_t>(0, 60);
  auto intervals = random_intervals(count, 40, 30, seed);
  std::mt19937 random(seed);
  for (Interval& interval : intervals)
    for (uint32_t at = interval.first + 1; at < interval.last; ++at) {
      const uint32_t end = at + static_cast<uint32_t>(random() % 6);
      if (random() % 3 != 0 || end >= interval.last) continue;
      interval.gaps.push_back({at, end});
      at = end + 1;
    }
  check_plan(intervals, plan_memory(intervals, kAlignment));
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(Planner, LongAndShortLivesKeepThePromises) {
  // Enough for every way to find neighbours.
  for (const uint32_t longest : {3u, 60u, 900u}) {
    const auto intervals = random_intervals(1'500, 900, longest, longest);
    check_plan(intervals, plan_memory(intervals, kAlignment));
  }
}

TEST(Planner, TenThousandIntervalsAreQuick) {
  for (const uint32_t longest : {5u, 20u, 2'000u, 20'000u}) {
    const auto intervals = random_intervals(10'000, 10'000, longest, 3);
    std::clock_t best = std::numeric_limits<std::clock_t>::max();
    MemoryPlan plan;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();
      plan = plan_memory(intervals, kAlignment);
      best = std::min(best, std::clock() - start);
    }
    EXPECT_LT(best, CLOCKS_PER_SEC) << "50 ms are wanted on an idle machine";
    EXPECT_LT(static_cast<double>(plan.total), 1.3 * static_cast<double>(plan.lower_bound));
  }
}

}  // namespace
}  // namespace ingot
