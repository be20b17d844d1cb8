#include "runtime/base/checked.h"

#include <limits>

#include <gtest/gtest.h>

namespace ingot {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(Checked, OverflowGivesNothing) {
  EXPECT_EQ(checked_add(kMax, 0), kMax);
  EXPECT_EQ(checked_add(kMax, 1), std::nullopt);
  EXPECT_EQ(checked_sub(kMin, 1), std::nullopt);
  EXPECT_EQ(checked_sub(size_t{0}, 1), std::nullopt);
  EXPECT_EQ(checked_mul(kMin, -1), std::nullopt);
  EXPECT_EQ(checked_mul(kMax / 2, 2), kMax - 1);
  EXPECT_EQ(checked_align_up(65, 64), 128u);
  EXPECT_EQ(checked_align_up(0, 64), 0u);
  EXPECT_EQ(checked_align_up(SIZE_MAX - 10, 64), std::nullopt);
}

TEST(Checked, FloorDivisionRoundsDown) {
  for (int64_t a = -9; a <= 9; ++a)
    for (int64_t b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      EXPECT_EQ(floor_div(a, b) * b + floor_mod(a, b), a);
      EXPECT_TRUE(b > 0 ? 0 <= floor_mod(a, b) && floor_mod(a, b) < b : b < floor_mod(a, b) && floor_mod(a, b) <= 0);
    }
}

}  // namespace
}  // namespace ingot
