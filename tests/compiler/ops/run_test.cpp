#include <gmock/gmock.h>

#include "runtime/base/error.h"
#include "tests/compiler/ops/test_call.h"

// Definitions of operators against values from NumPy.
namespace ingot::ops {
namespace {

using Values = std::vector<double>;

std::vector<int64_t> ints(std::initializer_list<int64_t> values) { return values; }

testing::Matcher<Values> near(const Values& expected) {
  std::vector<testing::Matcher<double>> matchers;
  for (const double value : expected)
    matchers.push_back(testing::NanSensitiveDoubleNear(value, 1e-5 * std::max(1.0, std::abs(value))));
  return testing::ElementsAreArray(matchers);
}

ErrorCode fault(std::string_view op, const std::vector<Array>& args, ir::Attrs attrs = {}) {
  try {
    run(op, args, std::move(attrs));
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Internal;
}

const Array x7 = floats({7}, {-2.5, -1, -0.25, 0, 0.5, 1, 3});
const Array a23 = floats({2, 3}, {1, 2, 3, 4, 5, 6});
const Array g142 = floats({1, 4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});

TEST(Run, Activations) {
  EXPECT_THAT(run("erf", {x7}), near({-0.99959302, -0.84270078, -0.27632639, 0, 0.52049989, 0.84270078, 0.99997789}));
  EXPECT_THAT(run("gelu", {x7}), near({-0.01552416, -0.15865526, -0.10032344, 0, 0.34573123, 0.84134477, 2.99595022}));
  EXPECT_THAT(run("softplus", {x7}),
              near({0.07888974, 0.31326169, 0.57593942, 0.69314718, 0.97407699, 1.31326163, 3.04858732}));
  EXPECT_THAT(run("silu", {x7}), near({-0.18964545, -0.26894142, -0.10945588, 0, 0.31122968, 0.73105860, 2.85772228}));
  EXPECT_THAT(run("hard_swish", {x7}), near({-0.20833336, -0.33333331, -0.11458334, 0, 0.29166666, 0.66666669, 3}));
  EXPECT_THAT(run("elu", {x7}), near({-0.91791499, -0.63212055, -0.22119921, 0, 0.5, 1, 3}));
  EXPECT_THAT(run("leaky_relu", {x7}, {{"alpha", 0.1}}), near({-0.25, -0.1, -0.025, 0, 0.5, 1, 3}));
  EXPECT_THAT(run("clip", {x7}, {{"a_min", -1.0}, {"a_max", int64_t{2}}}), near({-1, -1, -0.25, 0, 0.5, 1, 2}));
}

TEST(Run, IntegersFollowTheTable) {
  const Array a = integers({4}, {7, -7, 7, -7});
  const Array b = integers({4}, {2, 2, -2, -2});
  EXPECT_THAT(run("divide", {a, b}), testing::ElementsAre(3, -3, -3, 3));
  EXPECT_THAT(run("mod", {a, b}), testing::ElementsAre(1, -1, 1, -1));
  EXPECT_THAT(run("floor_divide", {a, b}), testing::ElementsAre(3, -4, -4, 3));
  EXPECT_THAT(run("floor_mod", {a, b}), testing::ElementsAre(1, 1, -1, -1));
  EXPECT_EQ(fault("divide", {a, integers({1}, {0})}), ErrorCode::DivisionByZero);
  EXPECT_THAT(run("bitwise_not", {a}), testing::ElementsAre(-8, 6, -8, 6));
}

TEST(Run, Broadcasting) {
  EXPECT_THAT(run("subtract", {a23, floats({2, 1}, {1, 10})}), testing::ElementsAre(0, 1, 2, -6, -5, -4));
  EXPECT_THAT(run("where", {Array{DType::Bool, {3}, {1, 0, 1}}, a23, floats({}, {9})}),
              testing::ElementsAre(1, 9, 3, 4, 9, 6));
  EXPECT_THAT(run("broadcast_to", {floats({2, 1}, {1, 2})}, {{"shape", ints({2, 2, 2})}}),
              testing::ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
}

TEST(Run, Reductions) {
  EXPECT_THAT(run("sum", {a23}), testing::ElementsAre(21));
  EXPECT_THAT(run("prod", {a23}, {{"axis", int64_t{1}}}), testing::ElementsAre(6, 120));
  EXPECT_THAT(run("max", {a23}, {{"axis", int64_t{0}}, {"keepdims", true}}), testing::ElementsAre(4, 5, 6));
  EXPECT_THAT(run("any", {integers({2, 2}, {0, 0, 0, 3})}, {{"axis", int64_t{1}}}), testing::ElementsAre(0, 1));
  EXPECT_THAT(run("mean", {a23}), testing::ElementsAre(3.5));
  EXPECT_THAT(run("variance", {a23}, {{"axis", int64_t{1}}}), near({0.66666669, 0.66666669}));
  EXPECT_THAT(run("std", {a23}, {{"axis", int64_t{0}}}), near({1.5, 1.5, 1.5}));
  EXPECT_THAT(run("argmax", {floats({2, 3}, {1, 5, 5, 7, 2, 7})}, {{"axis", int64_t{1}}}), testing::ElementsAre(1, 0));
  EXPECT_THAT(run("argmin", {floats({4}, {2, NAN, 1, NAN})}), testing::ElementsAre(1));
  EXPECT_THAT(run("cumsum", {a23}, {{"axis", int64_t{1}}}), testing::ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_THAT(run("cumsum", {a23}, {{"axis", int64_t{1}}, {"reverse", true}, {"exclusive", true}}),
              testing::ElementsAre(5, 3, 0, 11, 6, 0));
}

TEST(Run, Softmax) {
  const Values expected = {0.09003057, 0.24472846, 0.66524094, 0.09003057, 0.24472846, 0.66524094};
  EXPECT_THAT(run("softmax", {a23}), near(expected));
  EXPECT_THAT(run("softmax", {floats({1, 2}, {1000, 1000})}), near({0.5, 0.5}));
  EXPECT_THAT(run("log_softmax", {a23}, {{"axis", int64_t{0}}}),
              near({-3.04858732, -3.04858732, -3.04858732, -0.04858732, -0.04858732, -0.04858732}));
}

TEST(Run, Normalizations) {
  const Array one4 = floats({4}, {1, 1, 1, 1});
  const Array zero4 = floats({4}, {0, 0, 0, 0});
  EXPECT_THAT(run("layer_norm", {a23, floats({3}, {1, 2, 3}), floats({3}, {0, 1, 0})}),
              near({-1.22473562, 1, 3.67420673, -1.22473562, 1, 3.67420673}));
  EXPECT_THAT(run("rms_norm", {a23, floats({3}, {1, 2, 3})}),
              near({0.46290955, 1.85163820, 4.16618586, 0.78954190, 1.97385478, 3.55293846}));
  EXPECT_THAT(
      run("group_norm", {g142, floats({4}, {1, 2, 1, 1}), floats({4}, {0, 0, 1, 0})}, {{"num_groups", int64_t{2}}}),
      near({-1.34163547, -0.44721183, 0.89442366, 2.68327093, -0.34163547, 0.55278814, 0.44721183, 1.34163547}));
  EXPECT_THAT(run("instance_norm", {g142, one4, zero4}),
              near({-0.99998, 0.99998, -0.99998, 0.99998, -0.99998, 0.99998, -0.99998, 0.99998}));
  EXPECT_THAT(run("batch_norm",
                  {g142, floats({4}, {2, 1, 1, 3}), floats({4}, {0, 1, 0, 0}), floats({4}, {1, 0, 2, 0}),
                   floats({4}, {3, 0, 0, 8})},
                  {{"epsilon", 1.0}}),
              near({-1, 0, 3, 4, 2, 3, 6, 7}));
}

TEST(Run, Products) {
  EXPECT_THAT(run("matmul", {a23, floats({3, 1}, {1, 0, 2})}), testing::ElementsAre(7, 16));
  EXPECT_THAT(run("dense", {a23, floats({1, 3}, {1, 0, 2})}), testing::ElementsAre(7, 16));
  EXPECT_THAT(run("gemm", {a23, floats({3, 1}, {1, 0, 2}), floats({1}, {10})}, {{"alpha", 2.0}, {"beta", 0.5}}),
              testing::ElementsAre(19, 37));
  EXPECT_THAT(run("matmul", {integers({1, 2}, {3, 4}), integers({2, 1}, {5, 6})}), testing::ElementsAre(39));
}

TEST(Run, ConvolutionsInEveryFloat) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16}) {
    const Array x = {dtype, {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
    const Array w = {dtype, {1, 1, 2, 2}, {1, 0, 0, -1}};
    EXPECT_THAT(run("conv2d", {x, w}), testing::ElementsAre(-4, -4, -4, -4));
    EXPECT_THAT(run("conv2d", {x, w, {dtype, {1}, {10}}}, {{"padding", ints({1, 0, 0, 1})}, {"strides", ints({2})}}),
                testing::ElementsAre(8, 10, 6, 16));
    EXPECT_THAT(run("max_pool2d", {x}, {{"pool_size", ints({2})}, {"strides", ints({2})}, {"ceil_mode", true}}),
                testing::ElementsAre(5, 6, 8, 9));
    const ir::Attrs average = {{"pool_size", ints({2})}, {"strides", ints({2})}, {"padding", ints({1})}};
    EXPECT_THAT(run("avg_pool2d", {x}, average), testing::ElementsAre(1, 2.5, 5.5, 7));
    ir::Attrs padded = average;
    padded["count_include_pad"] = true;
    EXPECT_THAT(run("avg_pool2d", {x}, padded), testing::ElementsAre(0.25, 1.25, 2.75, 7));
  }
}

TEST(Run, ShapesAndPlaces) {
  EXPECT_THAT(run("transpose", {a23}), testing::ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(run("concat", {a23, a23}, {{"axis", int64_t{1}}}),
              testing::ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
  EXPECT_THAT(run("split", {a23}, {{"indices_or_sections", ints({1})}, {"axis", int64_t{1}}}),
              testing::ElementsAre(1, 4));
  EXPECT_THAT(run("strided_slice", {a23},
                  {{"begin", ints({0, -1})}, {"end", ints({2, INT64_MIN})}, {"strides", ints({1, -2})}}),
              testing::ElementsAre(3, 1, 6, 4));
  const auto taken_by = [](const char* mode) { return ir::Attrs{{"axis", int64_t{1}}, {"mode", std::string(mode)}}; };
  EXPECT_THAT(run("take", {a23, integers({2}, {-1, 0})}, taken_by("raise")), testing::ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(run("take", {a23, integers({2}, {-1, 5})}, taken_by("wrap")), testing::ElementsAre(3, 3, 6, 6));
  EXPECT_THAT(run("take", {a23, integers({2}, {-1, 9})}, {{"axis", int64_t{1}}}), testing::ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(run("take", {a23, integers({2}, {4, -1})}), testing::ElementsAre(5, 1));
  EXPECT_EQ(fault("take", {a23, integers({1}, {3})}, taken_by("raise")), ErrorCode::IndexOutOfRange);
  EXPECT_THAT(run("gather_elements", {a23, integers({1, 3}, {1, 0, -1})}), testing::ElementsAre(4, 2, 6));
  EXPECT_THAT(run("gather_nd", {a23, integers({2, 2}, {0, 1, 1, -1})}), testing::ElementsAre(2, 6));
  EXPECT_THAT(run("pad", {floats({2}, {1, 2})}, {{"pad_width", ints({1, 2})}, {"pad_value", 7.0}}),
              testing::ElementsAre(7, 1, 2, 7, 7));
  EXPECT_THAT(run("pad", {floats({3}, {1, 2, 3})}, {{"pad_width", ints({2, 1})}, {"pad_mode", std::string("reflect")}}),
              testing::ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(run("pad", {floats({3}, {1, 2, 3})}, {{"pad_width", ints({-1, 1})}, {"pad_mode", std::string("edge")}}),
              testing::ElementsAre(2, 3, 3));
  EXPECT_THAT(run("tile", {floats({2}, {1, 2})}, {{"reps", ints({2, 2})}}),
              testing::ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(run("repeat", {floats({2}, {1, 2})}, {{"repeats", int64_t{2}}, {"axis", int64_t{0}}}),
              testing::ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(run("flip", {a23}, {{"axis", int64_t{1}}}), testing::ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(run("one_hot", {integers({2}, {1, 0}), floats({}, {5}), floats({}, {0})}, {{"depth", int64_t{2}}}),
              testing::ElementsAre(0, 5, 5, 0));
  EXPECT_THAT(run("ones", {}, {{"shape", ints({2})}}), testing::ElementsAre(1, 1));
  EXPECT_THAT(run("upsampling", {floats({1, 1, 1, 2}, {1, 2})}, {{"scale_h", int64_t{2}}, {"scale_w", int64_t{2}}}),
              testing::ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
  EXPECT_THAT(run("size", {a23}), testing::ElementsAre(6));
}

TEST(Run, CastsByTheTable) {
  EXPECT_THAT(run("cast", {floats({4}, {1.9, -1.9, 300, NAN})}, {{"dtype", DType::UInt8}}),
              testing::ElementsAre(1, 0, 255, 0));
}

}  // namespace
}  // namespace ingot::ops
