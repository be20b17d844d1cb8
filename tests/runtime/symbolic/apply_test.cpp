#include "runtime/symbolic/apply.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(Apply, DivisionRoundsTowardsMinusInfinity) {
  EXPECT_EQ(apply(PrimOp::FloorDiv, -7, 2), -4);
  EXPECT_EQ(apply(PrimOp::FloorMod, -7, 2), 1);
  EXPECT_EQ(apply(PrimOp::FloorMod, INT64_MIN, -1), 0);
}

TEST(Apply, NothingOverflowsOrDividesByZero) {
  EXPECT_EQ(apply(PrimOp::Add, INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(apply(PrimOp::Sub, INT64_MIN, 1), std::nullopt);
  EXPECT_EQ(apply(PrimOp::Mul, INT64_MAX, 2), std::nullopt);
  EXPECT_EQ(apply(PrimOp::FloorDiv, INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(apply(PrimOp::FloorDiv, 1, 0), std::nullopt);
  EXPECT_EQ(apply(PrimOp::FloorMod, 1, 0), std::nullopt);
}

TEST(Apply, ComparisonsGiveZeroOrOne) {
  EXPECT_EQ(apply(PrimOp::Less, 1, 2), 1);
  EXPECT_EQ(apply(PrimOp::LessEqual, 3, 2), 0);
  EXPECT_EQ(apply(PrimOp::Equal, 2, 2), 1);
  EXPECT_EQ(apply(PrimOp::NotEqual, 2, 2), 0);
}

TEST(Apply, LazyOperationsAreNotItsMatter) { EXPECT_EQ(apply(PrimOp::Select, 1, 2), std::nullopt); }

}  // namespace
}  // namespace ingot
