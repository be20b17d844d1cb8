// The oracle itself, against values worked out by hand.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/kernels/kernel_case.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using Values = std::vector<double>;
using Ints = std::vector<int64_t>;

Operand holding(Ints dims, Values values, DType dtype = DType::Float32) {
  return {.dims = std::move(dims), .dtype = dtype, .values = std::move(values)};
}

KernelCase call_of(Contract contract, std::vector<Operand> inputs, Ints result, DType dtype = DType::Float32) {
  return {.call = {.contract = contract},
          .inputs = std::move(inputs),
          .output = {.dims = std::move(result), .dtype = dtype}};
}

Values reference(const KernelCase& c) {
  const auto result = run_case(c, "reference");
  return result ? result->values : Values{};
}

TEST(Reference, Conv2dCorrelatesPadsAndStrides) {
  KernelCase c = call_of(Contract::conv2d, {holding({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), holding({1, 1, 1, 2}, {1, 10})},
                         {1, 1, 2, 2});
  EXPECT_THAT(reference(c), ElementsAre(21, 32, 54, 65));
  c.call.set("padding", Ints{0, 1, 0, 0});
  c.call.set("strides", Ints{1, 2});
  EXPECT_THAT(reference(c), ElementsAre(10, 32, 40, 65));
}

TEST(Reference, Conv2dGroupsBiasAndPostOps) {
  KernelCase c = call_of(Contract::conv2d,
                         {holding({1, 2, 1, 2}, {1, 2, 3, 4}), holding({2, 1, 1, 1}, {10, 100}),
                          holding({2}, {5, -1000}), holding({1, 1, 1, 2}, {0, 1})},
                         {1, 2, 1, 2});
  c.call.set("groups", int64_t{2});
  c.call.set("has_bias", int64_t{1});
  c.call.post_ops = {{.kind = PostOpKind::Relu}, {.kind = PostOpKind::Add}};
  EXPECT_THAT(reference(c), ElementsAre(15, 26, 0, 1));
}

TEST(Reference, Conv2dDilates) {
  KernelCase c =
      call_of(Contract::conv2d, {holding({1, 1, 1, 4}, {1, 2, 3, 4}), holding({1, 1, 1, 2}, {1, 10})}, {1, 1, 1, 2});
  c.call.set("dilation", Ints{1, 2});
  EXPECT_THAT(reference(c), ElementsAre(31, 42));
}

TEST(Reference, MatmulTransposesBroadcastsAndScales) {
  KernelCase c = call_of(Contract::matmul, {holding({2, 2}, {1, 2, 3, 4}), holding({2, 2}, {10, 20, 30, 40})}, {2, 2});
  EXPECT_THAT(reference(c), ElementsAre(70, 100, 150, 220));
  c.call.set("transpose_a", int64_t{1});
  EXPECT_THAT(reference(c), ElementsAre(100, 140, 140, 200));
  c.call.set("transpose_a", int64_t{0});
  c.call.set("transpose_b", int64_t{1});
  EXPECT_THAT(reference(c), ElementsAre(50, 110, 110, 250));
  c.call.set("has_bias", int64_t{1});
  c.call.set("alpha", 0.5);
  c.call.set("beta", 2.0);
  c.inputs.push_back(holding({2}, {1, 2}));
  EXPECT_THAT(reference(c), ElementsAre(27, 59, 57, 129));
}

TEST(Reference, MatmulOfVectorsAndBatches) {
  EXPECT_THAT(reference(call_of(Contract::matmul, {holding({2}, {1, 2}), holding({2}, {3, 4})}, {})), ElementsAre(11));
  EXPECT_THAT(
      reference(call_of(Contract::matmul, {holding({2}, {1, 2}), holding({2, 1, 2, 1}, {3, 4, 5, 6})}, {2, 1, 1})),
      ElementsAre(11, 17));
  EXPECT_THAT(reference(call_of(Contract::matmul, {holding({2, 1, 1}, {1, 2}), holding({1, 1, 2}, {3, 4})}, {2, 1, 2})),
              ElementsAre(3, 4, 6, 8));
}

TEST(Reference, EveryDtype) {
  const KernelCase wraps =
      call_of(Contract::matmul, {holding({1, 2}, {100, 2}, DType::Int8), holding({2, 1}, {2, 3}, DType::Int8)}, {1, 1},
              DType::Int8);
  EXPECT_THAT(reference(wraps), ElementsAre(206 - 256));
  const KernelCase is_unsigned =
      call_of(Contract::matmul, {holding({1, 1}, {200}, DType::UInt8), holding({1, 1}, {2}, DType::UInt8)}, {1, 1},
              DType::UInt8);
  EXPECT_THAT(reference(is_unsigned), ElementsAre(144));
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float64, DType::Int64, DType::UInt16})
    EXPECT_THAT(reference(call_of(Contract::matmul, {holding({1, 2}, {3, 4}, dtype), holding({2, 1}, {5, 6}, dtype)},
                                  {1, 1}, dtype)),
                ElementsAre(39));
  KernelCase clipped =
      call_of(Contract::matmul, {holding({1, 1}, {-9}, DType::Int32), holding({1, 1}, {3}, DType::Int32)}, {1, 1},
              DType::Int32);
  clipped.call.post_ops = {{.kind = PostOpKind::Clip, .alpha = -20, .beta = 1e300}};
  EXPECT_THAT(reference(clipped), ElementsAre(-20));
}

TEST(Reference, PoolingCountsPaddingAsAsked) {
  KernelCase c = call_of(Contract::pool2d, {holding({1, 1, 1, 3}, {1, 2, 6})}, {1, 1, 1, 3});
  c.call.set("window", Ints{1, 2});
  c.call.set("padding", Ints{0, 1, 0, 0});
  EXPECT_THAT(reference(c), ElementsAre(1, 2, 6));
  c.call.set("mode", int64_t{1});
  EXPECT_THAT(reference(c), ElementsAre(1, 1.5, 4));
  c.call.set("count_include_pad", int64_t{1});
  EXPECT_THAT(reference(c), ElementsAre(0.5, 1.5, 4));
}

TEST(Reference, PoolingBeyondTheEdgeCountsWhatLiesWithin) {
  KernelCase c = call_of(Contract::pool2d, {holding({1, 1, 1, 3}, {1, 2, 6})}, {1, 1, 1, 2});
  c.call.set("window", Ints{1, 2});
  c.call.set("strides", Ints{1, 2});
  c.call.set("mode", int64_t{1});
  c.call.set("count_include_pad", int64_t{1});
  EXPECT_THAT(reference(c), ElementsAre(1.5, 6));
}

TEST(Reference, MaximumPropagatesNan) {
  KernelCase c = call_of(Contract::pool2d, {holding({1, 1, 1, 3}, {1, NAN, 6})}, {1, 1, 1, 1});
  c.call.set("window", Ints{1, 3});
  EXPECT_TRUE(std::isnan(reference(c).at(0)));
}

TEST(Reference, LrnSumsAroundTheChannel) {
  KernelCase c = call_of(Contract::lrn, {holding({1, 3, 1, 1}, {1, 2, 3})}, {1, 3, 1, 1});
  c.call.set("size", int64_t{2});
  c.call.set("alpha", 2.0);
  c.call.set("beta", 1.0);
  c.call.set("bias", 1.0);
  const Values got = reference(c);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_FLOAT_EQ(static_cast<float>(got[0]), 1 / 6.0F);
  EXPECT_FLOAT_EQ(static_cast<float>(got[1]), 2 / 14.0F);
  EXPECT_FLOAT_EQ(static_cast<float>(got[2]), 3 / 10.0F);
}

TEST(Reference, EmptyTensors) {
  EXPECT_THAT(reference(call_of(Contract::matmul, {holding({2, 0}, {}), holding({0, 2}, {})}, {2, 2})),
              ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(reference(call_of(Contract::matmul, {holding({0, 1}, {}), holding({1, 2}, {1, 1})}, {0, 2})),
              ElementsAre());
}

TEST(Reference, StopsWhenPolled) {
  KernelCase c = call_of(Contract::matmul, {holding({1, 1}, {1}), holding({1, 1}, {1})}, {1, 1});
  const std::vector<OperandSpec> inputs = {{.dtype = DType::Float32, .dims = {2048, 2048}},
                                           {.dtype = DType::Float32, .dims = {2048, 2048}}};
  const OperandSpec output{.dtype = DType::Float32, .dims = {2048, 2048}};
  c.call.inputs = 2;
  const PreparedKernel prepared =
      prepare_kernel({.call = &c.call, .inputs = inputs, .outputs = {&output, 1}}, "reference");
  EXPECT_EQ(prepared.kernel->work(), uint64_t{1} << 33);
  const std::vector<std::byte> memory(size_t{2048} * 2048 * 4);
  std::vector<std::byte> to(memory.size());
  const std::vector<const std::byte*> from = {memory.data(), memory.data()};
  std::byte* result = to.data();
  int polls = 0;
  const auto poll = [](void* context) { return ++*static_cast<int*>(context) == 3; };
  const tir::RunStatus status = prepared.kernel->run(
      {.inputs = from, .outputs = {&result, 1}, .scratch = nullptr, .poll = {.poll = poll, .context = &polls}});
  EXPECT_TRUE(status.failed);
  EXPECT_EQ(status.code, ErrorCode::Cancelled);
  EXPECT_EQ(polls, 3);
}

}  // namespace
}  // namespace ingot::test
