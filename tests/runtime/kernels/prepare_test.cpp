// What prepare_kernel says about calls that break their contract.
#include <gtest/gtest.h>

#include "tests/runtime/kernels/kernel_case.h"

namespace ingot::test {
namespace {

Operand shaped(std::vector<int64_t> dims, DType dtype = DType::Float32) {
  return {.dims = std::move(dims), .layout = Layout::RowMajor, .dtype = dtype, .values = {}};
}

KernelCase call_of(Contract contract, std::vector<Operand> inputs, Operand output) {
  return {.call = {.contract = contract}, .inputs = std::move(inputs), .output = std::move(output)};
}

KernelCase conv2d() {
  return call_of(Contract::conv2d, {shaped({1, 4, 5, 5}), shaped({8, 4, 3, 3})}, shaped({1, 8, 3, 3}));
}

TEST(Prepare, AcceptsAGoodCall) { EXPECT_EQ(prepare_error(conv2d()), "prepared"); }

TEST(Prepare, ChecksOperandCounts) {
  KernelCase c = conv2d();
  c.inputs.push_back(shaped({8}));
  c.call.inputs = 2;
  EXPECT_EQ(prepare_error(c), "ArityMismatch: conv2d: the call has 2 inputs and 1 outputs, it is given 3 and 1");
  c.call.inputs = 3;
  EXPECT_EQ(prepare_error(c), "ArityMismatch: conv2d: takes 2 inputs and 0 of post-ops, the call has 3");
  c.call.set("has_bias", int64_t{1});
  EXPECT_EQ(prepare_error(c), "prepared");
}

TEST(Prepare, ChecksNumbersOfContractsAndPostOps) {
  KernelCase c = conv2d();
  c.call.post_ops.push_back({.kind = static_cast<PostOpKind>(99)});
  EXPECT_EQ(prepare_error(c), "CorruptFile: conv2d: post-op number 99 does not exist");
  c = conv2d();
  c.call.contract = static_cast<Contract>(999);
  EXPECT_EQ(prepare_error(c), "CorruptFile: kernel contract number 999 does not exist");
}

TEST(Prepare, ChecksConvolutionShapes) {
  KernelCase c = conv2d();
  c.inputs[1].dims[1] = 3;
  EXPECT_EQ(prepare_error(c), "ShapeMismatch: conv2d: weight has 3 input channels per group, data has 4 in 1 group");
  c = conv2d();
  c.inputs[0].dims = {4, 5, 5};
  EXPECT_EQ(prepare_error(c), "ShapeMismatch: conv2d: data has shape (4, 5, 5) of rank 3, rank 4 is needed");
  c = conv2d();
  c.output.dims[3] = 4;
  EXPECT_EQ(prepare_error(c),
            "ShapeMismatch: conv2d: the result has shape (1, 8, 3, 4), the operands give (1, 8, 3, 3)");
  c = conv2d();
  c.inputs[0].dims[2] = 2;
  EXPECT_EQ(prepare_error(c),
            "ShapeMismatch: conv2d: the dilated kernel spans 3 elements of dimension 2, the padded data has 2");
  c = conv2d();
  c.call.set("groups", int64_t{3});
  EXPECT_EQ(prepare_error(c), "ShapeMismatch: conv2d: weight has 4 input channels per group, data has 4 in 3 groups");
  c = conv2d();
  c.call.post_ops.push_back({.kind = PostOpKind::Add});
  c.inputs.push_back(shaped({1, 8, 3, 2}));
  EXPECT_EQ(prepare_error(c),
            "ShapeMismatch: conv2d: input 2, which is added to the result, has shape (1, 8, 3, 2), the result has (1, "
            "8, 3, 3)");
}

TEST(Prepare, ChecksAttributes) {
  const auto with = [](std::string name, Attribute value) {
    KernelCase c = conv2d();
    c.call.set(std::move(name), std::move(value));
    return prepare_error(c);
  };
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(with("strides", Ints{1}), "InvalidArgument: conv2d: strides has 1 numbers, 2 are needed");
  EXPECT_EQ(with("strides", Ints{0, 1}), "InvalidArgument: conv2d: strides has 0, each must be 1 to 2147483647");
  EXPECT_EQ(with("dilation", Ints{1, -1}), "InvalidArgument: conv2d: dilation has -1, each must be 1 to 2147483647");
  EXPECT_EQ(with("padding", Ints{0, 0, 0, INT64_MAX}),
            "InvalidArgument: conv2d: padding has 9223372036854775807, each must be 0 to 2147483647");
  EXPECT_EQ(with("padding", 0.5), "CorruptFile: conv2d: attribute 'padding' is not a list of integers");
  EXPECT_EQ(with("groups", int64_t{0}), "InvalidArgument: conv2d: groups is 0, it must be 1 to 2147483647");
  EXPECT_EQ(with("stride", Ints{1, 1}), "CorruptFile: conv2d: there is no attribute 'stride'");
  EXPECT_EQ(with("padding", Ints{2000000000, 2000000000, 2000000000, 2000000000}),
            "ShapeMismatch: conv2d: the result has shape (1, 8, 3, 3), the operands give (1, 8, 4000000003, "
            "4000000003)");
}

TEST(Prepare, ChecksDtypes) {
  KernelCase c = conv2d();
  c.inputs[1].dtype = DType::Float64;
  EXPECT_EQ(prepare_error(c), "TypeError: conv2d: input 1 has dtype float64, the result has float32; use cast");
  c.inputs[1].dtype = DType::String;
  EXPECT_EQ(prepare_error(c), "TypeError: conv2d: input 1 has dtype string, kernels take numbers");
  c = call_of(Contract::lrn, {shaped({1, 2, 3, 4}, DType::Int32)}, shaped({1, 2, 3, 4}, DType::Int32));
  EXPECT_EQ(prepare_error(c), "TypeError: lrn: the result has dtype int32, a float is needed");
  c = call_of(Contract::matmul, {shaped({2, 2}, DType::Int32), shaped({2, 2}, DType::Int32)},
              shaped({2, 2}, DType::Int32));
  c.call.post_ops.push_back({.kind = PostOpKind::Tanh});
  EXPECT_EQ(prepare_error(c), "TypeError: matmul: post-op tanh needs a float, the result has dtype int32");
}

TEST(Prepare, ChecksMatmulShapes) {
  const auto error = [](std::vector<int64_t> a, std::vector<int64_t> b, std::vector<int64_t> result) {
    return prepare_error(
        call_of(Contract::matmul, {shaped(std::move(a)), shaped(std::move(b))}, shaped(std::move(result))));
  };
  EXPECT_EQ(error({1, 784}, {512, 10}, {1, 10}),
            "ShapeMismatch: matmul: inner dimensions differ: a has 784, b has 512");
  EXPECT_EQ(error({2, 1, 4}, {3, 4, 5}, {3, 1, 5}),
            "ShapeMismatch: matmul: batch dimensions differ: a has shape (2, 1, 4), b has (3, 4, 5)");
  EXPECT_EQ(error({2, 4}, {4, 5}, {2, 4}),
            "ShapeMismatch: matmul: the result has shape (2, 4), the operands give (2, 5)");
  EXPECT_EQ(error({}, {4, 5}, {5}), "ShapeMismatch: matmul: a has rank 0, at least 1 is needed");
  EXPECT_EQ(error({4}, {4}, {}), "prepared");
}

TEST(Prepare, ChecksPoolingShapes) {
  KernelCase c = call_of(Contract::pool2d, {shaped({1, 2, 5, 5})}, shaped({1, 2, 2, 2}));
  c.call.set("window", std::vector<int64_t>{2, 2});
  c.call.set("strides", std::vector<int64_t>{2, 2});
  EXPECT_EQ(prepare_error(c), "prepared");
  c.output.dims[2] = 3;
  EXPECT_EQ(prepare_error(c), "prepared");
  c.output.dims[2] = 4;
  EXPECT_EQ(prepare_error(c), "ShapeMismatch: pool2d: dimension 2 of the result is 4, the operands give 2 or one more");
}

TEST(Prepare, ChecksLayoutsAndSizes) {
  KernelCase c = conv2d();
  c.inputs[1].layout = Layout::ChannelsLast;
  EXPECT_EQ(prepare_error(c), "InvalidArgument: conv2d: input 1 cannot lie channels-last");
  c = conv2d();
  c.inputs[0].dims = {1, int64_t{1} << 40, int64_t{1} << 40, 1};
  EXPECT_EQ(prepare_error(c).substr(0, 13), "ShapeMismatch");
  c.inputs[0].dims = {1, 4, -5, 5};
  EXPECT_EQ(prepare_error(c).substr(0, 13), "ShapeMismatch");
  c.inputs[0].dims = {0, int64_t{1} << 40, int64_t{1} << 40, 1};
  EXPECT_EQ(prepare_error(c).substr(0, 13), "ShapeMismatch");
}

TEST(Prepare, NamesVariants) {
  EXPECT_EQ(prepare_error(conv2d(), "reference"), "prepared");
  EXPECT_EQ(prepare_error(conv2d(), "fastest"), "Unsupported: conv2d: there is no variant 'fastest'");
}

}  // namespace
}  // namespace ingot::test
