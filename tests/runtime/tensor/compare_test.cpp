#include "runtime/tensor/compare.h"

#include <limits>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor_text.h"

namespace ingot {
namespace {

Comparison compare(std::string_view actual, std::string_view expected, Tolerance tolerance = {}) {
  return compare_tensors(*parse_tensor(actual), *parse_tensor(expected), tolerance);
}

TEST(Compare, WithinToleranceMatches) {
  const auto result = compare("2xf32=1 100", "2xf32=1 100.5", {1e-2, 0});
  EXPECT_TRUE(result.matches());
  EXPECT_EQ(comparison_text(result), "all 2 elements match (largest error 0.5, relative 0.00498)");
  EXPECT_TRUE(compare("f64=0.001", "f64=0", {0, 1e-3}).matches());
  EXPECT_FALSE(compare("f64=0.001", "f64=0", {1, 1e-4}).matches());
  EXPECT_TRUE(compare("2xf16=1 2", "2xf16=1.001 2", {1e-2, 0}).matches());
}

TEST(Compare, ReportsTheFirstMismatch) {
  const auto result = compare("2x3xf32=1 2 3 4 5 6", "2x3xf32=1 2 3 4 4 8");
  EXPECT_EQ(result.mismatches, 2u);
  EXPECT_EQ(result.first, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(comparison_text(result),
            "2 of 6 elements differ: the first at (1, 1) is 5 and should be 4; largest error 2, relative 0.25");
}

TEST(Compare, SpecialValuesMatchThemselves) {
  EXPECT_TRUE(compare("4xf32=nan inf -inf 0", "4xf32=nan inf -inf -0").matches());
  const auto result = compare("3xf32=nan inf 1", "3xf32=1 -inf inf", {1, 1});
  EXPECT_EQ(result.mismatches, 3u);
  EXPECT_EQ(result.max_abs, std::numeric_limits<double>::infinity());
}

TEST(Compare, IntegersBooleansAndStringsAreExact) {
  EXPECT_FALSE(compare("i32=1000000", "i32=1000001", {1, 1}).matches());
  EXPECT_EQ(compare("i64=9223372036854775807", "i64=-9223372036854775808").max_abs, 0x1p64);
  EXPECT_TRUE(compare("2xbool=0 1", "2xbool=0 1").matches());
  EXPECT_EQ(compare("2xbool=0 1", "2xbool=1 1").first_actual, "0");
  EXPECT_EQ(compare("2xstr=\"a\" \"b\"", "2xstr=\"a\" \"c\"").first_expected, "\"c\"");
}

TEST(Compare, DifferentTypesCannotBeCompared) {
  try {
    compare("f32=1", "f64=1");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the dtypes differ: the result is float32, expected is float64");
  }
  try {
    compare("2xf32=1 2", "2x1xf32=1 2");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the shapes differ: the result is (2,), expected is (2, 1)");
  }
}

TEST(Compare, EmptyTensorsMatch) { EXPECT_TRUE(compare("0x2xf32=", "0x2xf32=").matches()); }

}  // namespace
}  // namespace ingot
