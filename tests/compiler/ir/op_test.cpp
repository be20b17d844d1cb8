#include "compiler/ir/op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ingot::ir {
namespace {

constexpr std::string_view kParams[] = {"data", "weight?"};
constexpr std::string_view kAttributes[] = {"axis=-1", "strides=(1, 1)", "layout=\"NCHW\"", "out_dtype=None",
                                            "units",   "dtype=float32",  "scale=0.5",       "keepdims=False"};
const Op kOp{"probe", {}, kParams, kAttributes, nullptr, nullptr, nullptr, nullptr, {}, {}};

class CallSiteTest : public testing::Test {
 protected:
  CallSite site(Attrs attrs) {
    attrs_ = std::move(attrs);
    return {kOp, args_, infos_, attrs_, {}};
  }

  std::vector<Expr> args_ = {std::make_shared<Var>("x", nullptr, false, Span{})};
  std::vector<StructInfo> infos_ = {tensor_info(DType::Float32, 2)};
  Attrs attrs_;
};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.label() + ": " + error.what();
  }
  return "no error";
}

TEST_F(CallSiteTest, DefaultsApplyWhereNothingIsGiven) {
  const CallSite call = site({});
  EXPECT_EQ(call.integer("axis"), -1);
  EXPECT_EQ(call.integers("strides"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(call.text("layout"), "NCHW");
  EXPECT_EQ(call.dtype_attr("dtype"), DType::Float32);
  EXPECT_EQ(call.number("scale"), 0.5);
  EXPECT_FALSE(call.flag("keepdims"));
  EXPECT_FALSE(call.has_attr("out_dtype"));
  EXPECT_TRUE(call.has_attr("axis"));
}

TEST_F(CallSiteTest, GivenAttributesConvertBetweenCloseForms) {
  const CallSite call = site({{"strides", int64_t{2}}, {"dtype", "int8"}, {"scale", int64_t{3}}});
  EXPECT_EQ(call.integers("strides"), (std::vector<int64_t>{2}));
  EXPECT_EQ(call.dtype_attr("dtype"), DType::Int8);
  EXPECT_EQ(call.number("scale"), 3.0);
}

TEST_F(CallSiteTest, ErrorsNameOperatorAttributeAndArgument) {
  EXPECT_EQ(error_of([&] { site({}).integer("units"); }), "TypeError: probe: attribute units is missing");
  EXPECT_EQ(error_of([&] {
              site({{"axis", 1.5}}).integer("axis");
            }),
            "TypeError: probe: attribute axis must be an integer, is 1.5");
  EXPECT_EQ(error_of([&] {
              site({{"axis", int64_t{2}}}).axis("axis", 2);
            }),
            "IndexOutOfRange: probe: axis is 2, the rank is 2");
  EXPECT_EQ(error_of([&] { site({}).dims(0); }),
            "TypeError: probe: the dimensions of %x are not known; name them with match_cast(..., Tensor[(...), ...])");
  infos_ = {shape_info(2)};
  EXPECT_EQ(error_of([&] { site({}).tensor(0); }), "TypeError: probe: %x must be a tensor, is Shape[ndim=2]");
}

TEST_F(CallSiteTest, AxisCountsFromTheEndWhereNegative) {
  EXPECT_EQ(site({}).axis("axis", 3), 2);
  EXPECT_EQ(site({{"axis", int64_t{0}}}).axis("axis", 3), 0);
}

}  // namespace
}  // namespace ingot::ir
