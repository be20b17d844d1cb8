#include "runtime/base/arithmetic.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace ingot::arithmetic {
namespace {

template <typename T>
class IntArithmetic : public testing::Test {};
using IntTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(IntArithmetic, IntTypes);

TYPED_TEST(IntArithmetic, Wraps) {
  using T = TypeParam;
  constexpr T kMin = std::numeric_limits<T>::min();
  constexpr T kMax = std::numeric_limits<T>::max();
  EXPECT_EQ(add(kMax, T{1}), kMin);
  EXPECT_EQ(sub(kMin, T{1}), kMax);
  EXPECT_EQ(mul(kMax, kMax), T{1});
  EXPECT_EQ(neg(kMin), kMin);
  EXPECT_EQ(abs(kMin), kMin);
  EXPECT_EQ(pow(T{2}, static_cast<T>(sizeof(T) * 8)), T{0});
  EXPECT_EQ(pow(T{3}, T{4}), T{81});
  EXPECT_EQ(pow(T{0}, T{0}), T{1});
}

TYPED_TEST(IntArithmetic, DivisionTruncates) {
  using T = TypeParam;
  EXPECT_EQ(div(T{7}, T{2}), T{3});
  EXPECT_EQ(mod(T{7}, T{2}), T{1});
  EXPECT_EQ(floor_div(T{7}, T{2}), T{3});
  EXPECT_EQ(floor_mod(T{7}, T{2}), T{1});
  EXPECT_TRUE(divisor_faults(T{0}));
  EXPECT_FALSE(divisor_faults(T{1}));
  if constexpr (std::is_signed_v<T>) {
    constexpr T kMin = std::numeric_limits<T>::min();
    EXPECT_EQ(div(T{-7}, T{2}), T{-3});
    EXPECT_EQ(mod(T{-7}, T{2}), T{-1});
    EXPECT_EQ(mod(T{7}, T{-2}), T{1});
    EXPECT_EQ(floor_div(T{-7}, T{2}), T{-4});
    EXPECT_EQ(floor_div(T{7}, T{-2}), T{-4});
    EXPECT_EQ(floor_mod(T{-7}, T{2}), T{1});
    EXPECT_EQ(floor_mod(T{7}, T{-2}), T{-1});
    EXPECT_EQ(floor_mod(T{-6}, T{2}), T{0});
    EXPECT_EQ(div(kMin, T{-1}), kMin);
    EXPECT_EQ(mod(kMin, T{-1}), T{0});
    EXPECT_EQ(floor_div(kMin, T{-1}), kMin);
    EXPECT_EQ(floor_mod(kMin, T{-1}), T{0});
  } else {
    EXPECT_EQ(div(std::numeric_limits<T>::max(), std::numeric_limits<T>::max()), T{1});
  }
}

TYPED_TEST(IntArithmetic, Powers) {
  using T = TypeParam;
  EXPECT_FALSE(pow_faults(T{0}, T{0}));
  if constexpr (std::is_signed_v<T>) {
    EXPECT_TRUE(pow_faults(T{0}, T{-1}));
    EXPECT_EQ(pow(T{-2}, T{3}), T{-8});
    EXPECT_EQ(pow(T{1}, T{-3}), T{1});
    EXPECT_EQ(pow(T{-1}, T{-3}), T{-1});
    EXPECT_EQ(pow(T{-1}, T{-4}), T{1});
    EXPECT_EQ(pow(T{5}, std::numeric_limits<T>::min()), T{0});
  }
}

TYPED_TEST(IntArithmetic, Shifts) {
  using T = TypeParam;
  constexpr T kWidth = sizeof(T) * 8;
  EXPECT_EQ(shift_left(T{3}, T{2}), T{12});
  EXPECT_EQ(shift_left(T{1}, kWidth), T{0});
  EXPECT_EQ(shift_left(T{1}, std::numeric_limits<T>::max()), T{0});
  EXPECT_EQ(shift_left(T{2}, static_cast<T>(kWidth - 1)), T{0});
  EXPECT_EQ(shift_right(T{12}, T{2}), T{3});
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(shift_left(T{1}, T{-1}), T{0});
    EXPECT_EQ(shift_left(T{1}, static_cast<T>(kWidth - 1)), std::numeric_limits<T>::min());
    EXPECT_EQ(shift_right(T{-5}, T{1}), T{-3});
    EXPECT_EQ(shift_right(T{-5}, kWidth), T{-1});
    EXPECT_EQ(shift_right(T{5}, T{-1}), T{0});
  } else {
    EXPECT_EQ(shift_right(std::numeric_limits<T>::max(), kWidth), T{1});
  }
}

TYPED_TEST(IntArithmetic, SignsBitsAndOrder) {
  using T = TypeParam;
  EXPECT_EQ(sign(T{9}), T{1});
  EXPECT_EQ(sign(T{0}), T{0});
  EXPECT_EQ(min(T{1}, T{2}), T{1});
  EXPECT_EQ(max(T{1}, T{2}), T{2});
  EXPECT_EQ(bit_and(T{12}, T{10}), T{8});
  EXPECT_EQ(bit_or(T{12}, T{10}), T{14});
  EXPECT_EQ(bit_xor(T{12}, T{10}), T{6});
  EXPECT_TRUE(less(T{1}, T{2}));
  EXPECT_TRUE(less_equal(T{2}, T{2}));
  EXPECT_TRUE(equal(T{2}, T{2}));
  EXPECT_TRUE(not_equal(T{2}, T{1}));
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(sign(T{-9}), T{-1});
    EXPECT_EQ(abs(T{-9}), T{9});
    EXPECT_TRUE(less(T{-1}, T{0}));
  }
}

template <typename T>
class FloatArithmetic : public testing::Test {};
using FloatTypes = testing::Types<Half, BHalf, float, double>;
TYPED_TEST_SUITE(FloatArithmetic, FloatTypes);

TYPED_TEST(FloatArithmetic, Computes) {
  using T = TypeParam;
  const auto of = [](double value) { return convert<T>(value); };
  const auto value = [](T element) { return convert<double>(element); };
  EXPECT_EQ(value(add(of(1.5), of(2))), 3.5);
  EXPECT_EQ(value(sub(of(1.5), of(2))), -0.5);
  EXPECT_EQ(value(mul(of(1.5), of(2))), 3);
  EXPECT_EQ(value(div(of(3), of(2))), 1.5);
  EXPECT_FALSE(divisor_faults(of(0)));
  EXPECT_EQ(value(div(of(1), of(0))), std::numeric_limits<double>::infinity());
  EXPECT_EQ(value(mod(of(-7), of(2))), -1);
  EXPECT_EQ(value(mod(of(7), of(-2))), 1);
  EXPECT_EQ(value(floor_mod(of(-7), of(2))), 1);
  EXPECT_EQ(value(floor_mod(of(7), of(-2))), -1);
  EXPECT_EQ(value(floor_div(of(-7), of(2))), -4);
  EXPECT_TRUE(is_nan(mod(of(1), of(0))));
  EXPECT_EQ(value(pow(of(2), of(-1))), 0.5);
  EXPECT_EQ(value(neg(of(2))), -2);
  EXPECT_EQ(value(abs(of(-2))), 2);
  EXPECT_EQ(value(sign(of(-2))), -1);
  EXPECT_EQ(value(round(of(2.5))), 2);
  EXPECT_EQ(value(round(of(-3.5))), -4);
  EXPECT_EQ(value(trunc(of(-2.5))), -2);
  EXPECT_EQ(value(floor(of(-2.5))), -3);
  EXPECT_EQ(value(ceil(of(-2.5))), -2);
  EXPECT_EQ(value(sqrt(of(4))), 2);
  EXPECT_EQ(value(rsqrt(of(4))), 0.5);
  EXPECT_EQ(value(sigmoid(of(0))), 0.5);
  EXPECT_EQ(value(exp(of(0))), 1);
  EXPECT_TRUE(is_finite(of(2)));
  EXPECT_TRUE(is_inf(log(of(0))));
  EXPECT_TRUE(less(of(-1), of(1)));
  EXPECT_TRUE(equal(of(0.0), of(-0.0)));
}

TYPED_TEST(FloatArithmetic, NaNPropagates) {
  using T = TypeParam;
  const T one = convert<T>(1.0);
  const T nan = convert<T>(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(is_nan(min(one, nan)));
  EXPECT_TRUE(is_nan(min(nan, one)));
  EXPECT_TRUE(is_nan(max(one, nan)));
  EXPECT_TRUE(is_nan(max(nan, one)));
  EXPECT_TRUE(is_nan(sign(nan)));
  EXPECT_FALSE(equal(nan, nan));
  EXPECT_TRUE(not_equal(nan, nan));
  EXPECT_FALSE(less(nan, one));
}

TEST(HalfArithmetic, RoundsOnce) {
  EXPECT_EQ(add(Half(2048.0f), Half(1.0f)), Half(2048.0f));
  EXPECT_EQ(floor_mod(Half(-0.0001f), Half(2048.0f)), Half(2048.0f));
  EXPECT_EQ(mul(BHalf(1.0078125f), BHalf(1.0078125f)), BHalf(1.0156860f));
}

}  // namespace
}  // namespace ingot::arithmetic
