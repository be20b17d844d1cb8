#include "runtime/base/half.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace ingot {
namespace {

Half half_of(uint32_t bits) {
  Half half;
  half.bits = static_cast<uint16_t>(bits);
  return half;
}

double value_of(uint32_t bits) { return static_cast<double>(static_cast<float>(half_of(bits))); }

TEST(Half, EveryValueIsWhatTheStandardSays) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const int exponent = static_cast<int>(bits >> 10);
    const double fraction = bits & 0x3ff;
    const double wanted = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1 + fraction / 1024, exponent - 15);
    ASSERT_EQ(value_of(bits), wanted);
    ASSERT_EQ(value_of(bits | 0x8000), -wanted);
  }
  EXPECT_EQ(value_of(0x7c00), std::numeric_limits<double>::infinity());
  EXPECT_EQ(value_of(0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(value_of(0x7e00)));
  EXPECT_TRUE(std::isnan(value_of(0x7c01)));
}

TEST(Half, EveryValueSurvivesAFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    ASSERT_TRUE(std::isnan(value_of(bits)) || Half(static_cast<float>(half_of(bits))) == half_of(bits)) << bits;
}

TEST(Half, RoundsToNearestEvenBetweenAllNeighbours) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto middle = static_cast<float>((value_of(bits) + value_of(bits + 1)) / 2);
    ASSERT_EQ(Half(middle), half_of(bits % 2 == 0 ? bits : bits + 1)) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, 0.0f)), half_of(bits)) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, 1e30f)), half_of(bits + 1)) << bits;
  }
}

TEST(Half, OverflowsToInfinityAndKeepsNaN) {
  EXPECT_EQ(Half(65519.996f), half_of(0x7bff));
  EXPECT_EQ(Half(65520.0f), half_of(0x7c00));
  EXPECT_EQ(Half(-1e30f), half_of(0xfc00));
  EXPECT_EQ(Half(-0.0f), half_of(0x8000));
  EXPECT_EQ(Half(1e-30f), half_of(0));
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::numeric_limits<float>::signaling_NaN()))));
}

TEST(BHalf, EveryValueSurvivesAFloatAndNeighboursRoundToEven) {
  const auto of = [](uint32_t bits) {
    BHalf brain;
    brain.bits = static_cast<uint16_t>(bits);
    return brain;
  };
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    ASSERT_EQ(BHalf(static_cast<float>(of(bits))), of(bits));
    const auto middle = std::bit_cast<float>(bits << 16 | 0x8000);
    ASSERT_EQ(BHalf(middle), of(bits % 2 == 0 ? bits : bits + 1));
    ASSERT_EQ(BHalf(std::bit_cast<float>(bits << 16 | 0x8001)), of(bits + 1));
    ASSERT_EQ(BHalf(std::bit_cast<float>(bits << 16 | 0x7fff)), of(bits));
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(BHalf(std::bit_cast<float>(0x7f800001)))));
}

}  // namespace
}  // namespace ingot
