#include "compiler/analysis/holes.h"

#include <gtest/gtest.h>

namespace ingot::analysis {
namespace {

class HolesTest : public testing::Test {
 protected:
  StructInfo hole(uint32_t copy) { return holes.make({nullptr, copy}, "t"); }

  Holes holes;
  const StructInfo number = tensor_info(DType::Float32, std::vector<PrimExpr>{});
};

TEST_F(HolesTest, AreTheSameForTheSameOrigin) {
  EXPECT_EQ(hole(1), hole(1));
  EXPECT_NE(hole(1), hole(2));
  EXPECT_TRUE(holes.is_hole(hole(1)));
  EXPECT_FALSE(holes.is_hole(object_info()));
  EXPECT_EQ(holes.key(hole(1)), holes.key(hole(1)));
  EXPECT_NE(holes.key(hole(1)), holes.key(hole(2)));
}

TEST_F(HolesTest, StandForWhatTheyMeetUntilForgotten) {
  const StructInfo given = func_info({number}, number, true);
  EXPECT_EQ(holes.unify(given, func_info({hole(1)}, hole(2), true)), Holes::Result::Fits);
  EXPECT_EQ(holes.resolve(hole(1)), number);
  EXPECT_EQ(holes.resolve(tuple_info({hole(2), object_info()}))->fields[0], number);
  holes.forget();
  EXPECT_TRUE(holes.is_hole(holes.resolve(hole(1))));
}

TEST_F(HolesTest, ChainsEndAtWhatIsKnown) {
  holes.unify(hole(1), hole(2));
  holes.unify(hole(3), tuple_info({hole(1)}));
  holes.unify(number, hole(2));
  EXPECT_TRUE(same_info(holes.resolve(hole(3)), tuple_info({number})));
}

TEST_F(HolesTest, NoTypeContainsItself) {
  EXPECT_EQ(holes.unify(hole(1), hole(1)), Holes::Result::Fits);
  holes.unify(hole(1), func_info({hole(2)}, number, true));
  EXPECT_EQ(holes.unify(hole(2), tuple_info({hole(1)})), Holes::Result::Cycle);
  EXPECT_TRUE(is_unknown(holes.resolve(hole(2))));
}

TEST_F(HolesTest, NumbersOfParametersAndFieldsMustAgree) {
  const StructInfo one = func_info({hole(1)}, hole(2), true);
  EXPECT_EQ(holes.unify(one, func_info({number, number}, number, true)), Holes::Result::Clash);
  EXPECT_EQ(holes.unify(tuple_info({hole(3)}), tuple_info({})), Holes::Result::Clash);
  EXPECT_EQ(holes.unify(one, number), Holes::Result::Clash);
  EXPECT_EQ(holes.unify(number, tensor_info(DType::Int8)), Holes::Result::Fits) << "known types are compared elsewhere";
}

TEST_F(HolesTest, WhatMeetsObjectIsExposed) {
  holes.unify(func_info({hole(1)}, number, true), object_info());
  holes.unify(hole(1), hole(2));
  EXPECT_TRUE(holes.is_exposed(hole(1)));
  EXPECT_TRUE(holes.is_exposed(hole(2)));
  EXPECT_FALSE(holes.is_exposed(hole(3)));
  EXPECT_EQ(holes.unify(object_info(), hole(3)), Holes::Result::Fits);
  EXPECT_TRUE(same_info(holes.resolve(hole(3)), object_info())) << "a hole may take an Object";
}

TEST_F(HolesTest, FillingLeavesNone) {
  const StructInfo open = func_info({hole(1)}, tuple_info({hole(2), number}), true);
  EXPECT_TRUE(holes.mentions_hole(open));
  EXPECT_FALSE(holes.mentions_hole(holes.filled(open, object_info())));
  EXPECT_EQ(to_text(holes.filled(open, nullptr)), "fn(?) -> (?, Tensor[(), float32])");
}

}  // namespace
}  // namespace ingot::analysis
