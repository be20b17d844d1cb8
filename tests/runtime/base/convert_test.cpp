#include "runtime/base/convert.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

namespace ingot {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename T>
class ConvertToInt : public testing::Test {};
using IntTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ConvertToInt, IntTypes);

TYPED_TEST(ConvertToInt, SaturatesTruncatesAndZeroesNaN) {
  using Int = TypeParam;
  constexpr Int kMin = std::numeric_limits<Int>::min();
  constexpr Int kMax = std::numeric_limits<Int>::max();
  EXPECT_EQ(convert<Int>(kNaN), 0);
  EXPECT_EQ(convert<Int>(static_cast<float>(kNaN)), 0);
  EXPECT_EQ(convert<Int>(Half(static_cast<float>(kNaN))), 0);
  EXPECT_EQ(convert<Int>(kInf), kMax);
  EXPECT_EQ(convert<Int>(-kInf), kMin);
  EXPECT_EQ(convert<Int>(BHalf(1e38f)), kMax);
  EXPECT_EQ(convert<Int>(-1e300), kMin);
  EXPECT_EQ(convert<Int>(static_cast<double>(kMax) + 1), kMax);
  EXPECT_EQ(convert<Int>(2.9), 2);
  EXPECT_EQ(convert<Int>(2.9f), 2);
  EXPECT_EQ(convert<Int>(-0.9), 0);
  if (std::is_signed_v<Int>) {
    EXPECT_EQ(convert<Int>(-2.9), static_cast<Int>(-2));
    EXPECT_EQ(convert<Int>(static_cast<double>(kMin)), kMin);
  }
}

TEST(Convert, LargestExactValuesBelowTheEndStay) {
  EXPECT_EQ(convert<int32_t>(2147483520.0f), 2147483520);
  EXPECT_EQ(convert<int32_t>(2147483648.0f), 2147483647);
  EXPECT_EQ(convert<int64_t>(9223372036854774784.0), 9223372036854774784);
  EXPECT_EQ(convert<uint64_t>(18446744073709549568.0), 18446744073709549568u);
  EXPECT_EQ(convert<int8_t>(127.99), 127);
  EXPECT_EQ(convert<int8_t>(-128.99), -128);
}

TEST(Convert, IntegersWrap) {
  EXPECT_EQ(convert<int8_t>(int32_t{300}), 44);
  EXPECT_EQ(convert<uint8_t>(int64_t{-1}), 255);
  EXPECT_EQ(convert<uint64_t>(int8_t{-1}), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(convert<int64_t>(uint32_t{4000000000}), 4000000000);
  EXPECT_EQ(convert<int32_t>(uint32_t{4000000000}), -294967296);
}

TEST(Convert, BooleansAreNotZero) {
  EXPECT_TRUE(convert<bool>(kNaN));
  EXPECT_TRUE(convert<bool>(0.25f));
  EXPECT_TRUE(convert<bool>(int16_t{256}));
  EXPECT_FALSE(convert<bool>(-0.0));
  EXPECT_FALSE(convert<bool>(Half(-0.0f)));
  EXPECT_TRUE(convert<bool>(Half(6e-8f)));
  EXPECT_EQ(convert<float>(true), 1.0f);
  EXPECT_EQ(convert<uint64_t>(true), 1u);
  EXPECT_EQ(convert<Half>(true), Half(1.0f));
}

TEST(Convert, FloatsRoundToNearestEvenAndOverflowToInfinity) {
  EXPECT_EQ(convert<float>(int32_t{16777217}), 16777216.0f);
  EXPECT_EQ(convert<float>(1e300), std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(convert<Half>(65519.0)), 65504.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(convert<Half>(65520.0))));
  EXPECT_EQ(convert<BHalf>(Half(1.5f)), BHalf(1.5f));
  EXPECT_EQ(convert<double>(Half(0.5f)), 0.5);
  EXPECT_EQ(static_cast<float>(convert<Half>(int64_t{-7})), -7.0f);
}

TEST(Convert, EveryPairOfDTypesKeepsSmallNumbers) {
  for (size_t from = 1; from + 1 < kDTypeCount; ++from)
    with_element(static_cast<DType>(from), [&]<typename From>() {
      for (size_t to = 1; to + 1 < kDTypeCount; ++to)
        with_element(static_cast<DType>(to), [&]<typename To>() {
          EXPECT_EQ(convert<double>(convert<To>(convert<From>(1))), 1.0);
          EXPECT_EQ(convert<double>(convert<To>(convert<From>(0))), 0.0);
        });
    });
}

TEST(Convert, DTypesNameTheirTypes) {
  EXPECT_EQ(kDTypeOf<bool>, DType::Bool);
  EXPECT_EQ(kDTypeOf<Half>, DType::Float16);
  EXPECT_EQ(with_element(DType::UInt16, []<typename T>() { return kDTypeOf<T>; }), DType::UInt16);
  EXPECT_EQ(with_element(DType::BFloat16, []<typename T>() { return sizeof(T); }), 2u);
  EXPECT_THROW(with_element(DType::String, []<typename T>() {}), Error);
  EXPECT_THROW(with_element(DType::None, []<typename T>() {}), Error);
}

TEST(Convert, ABooleanIsReadFromAnyByte) {
  const std::array<uint8_t, 3> bytes{0, 1, 0x82};
  EXPECT_FALSE(load_element<bool>(&bytes[0]));
  EXPECT_TRUE(load_element<bool>(&bytes[1]));
  EXPECT_TRUE(load_element<bool>(&bytes[2]));
  uint8_t out = 7;
  store_element(&out, load_element<bool>(&bytes[2]));
  EXPECT_EQ(out, 1);
}

TEST(Convert, ElementsAreReadAndWrittenAtAnyAddress) {
  std::array<std::byte, 16> bytes{};
  store_element(bytes.data() + 3, 1.25);
  EXPECT_EQ(load_element<double>(bytes.data() + 3), 1.25);
  store_element(bytes.data() + 1, Half(2.0f));
  EXPECT_EQ(load_element<Half>(bytes.data() + 1), Half(2.0f));
}

}  // namespace
}  // namespace ingot
