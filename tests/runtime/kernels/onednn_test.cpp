// What is particular to the kernels that oneDNN runs: implementations, packed weights, memory, threads.
#include <thread>

#include <gtest/gtest.h>

#include "tests/runtime/kernels/kernel_case.h"

namespace ingot::test {
namespace {

struct Layer {
  int64_t channels, size, outputs, kernel, stride, groups = 1;
};

// A prepared convolution of the layer; its operands have no elements but those of constant weights.
PreparedKernel prepare_layer(const Layer& layer, Layout layout, std::vector<float>& weights, PackCache* packs,
                             bool residual) {
  const int64_t pad = layer.kernel / 2;
  const int64_t out = (layer.size + 2 * pad - layer.kernel) / layer.stride + 1;
  const std::vector<int64_t> weight_dims = {layer.outputs, layer.channels / layer.groups, layer.kernel, layer.kernel};
  weights.resize(element_count(weight_dims), 0.5F);
  const OperandSpec output{.dtype = DType::Float32, .layout = layout, .dims = {1, layer.outputs, out, out}};
  std::vector<OperandSpec> inputs = {
      {.dtype = DType::Float32, .layout = layout, .dims = {1, layer.channels, layer.size, layer.size}},
      {.dtype = DType::Float32, .dims = weight_dims, .constant = reinterpret_cast<const std::byte*>(weights.data())}};
  KernelCall call{.contract = Contract::conv2d};
  if (residual) {
    inputs.push_back(output);
    call.post_ops.push_back({.kind = PostOpKind::Add});
  }
  call.post_ops.push_back({.kind = PostOpKind::Relu});
  call.inputs = static_cast<uint16_t>(inputs.size());
  call.set("strides", std::vector<int64_t>{layer.stride, layer.stride});
  call.set("padding", std::vector<int64_t>{pad, pad, pad, pad});
  call.set("groups", layer.groups);
  return prepare_kernel({.call = &call, .inputs = inputs, .outputs = {&output, 1}, .packs = packs});
}

TEST(Onednn, LayersOfNetworksRunInGoodImplementations) {
  const std::vector<Layer> layers = {{3, 224, 64, 7, 2},       {64, 56, 64, 1, 1},     {64, 56, 64, 3, 1},
                                     {64, 56, 256, 1, 1},      {256, 56, 512, 1, 2},   {512, 7, 512, 3, 1},
                                     {2048, 7, 512, 1, 1},     {96, 27, 256, 5, 1, 2}, {24, 56, 60, 1, 1, 3},
                                     {60, 28, 60, 3, 2, 60},   {5, 28, 7, 3, 1},       {128, 28, 32, 3, 1},
                                     {240, 28, 240, 3, 1, 240}};
  for (const Layer& layer : layers)
    for (const Layout layout : {Layout::ChannelsLast, Layout::RowMajor}) {
      std::vector<float> weights;
      const PreparedKernel prepared = prepare_layer(layer, layout, weights, nullptr, true);
      const std::string name(prepared.kernel->implementation());
      EXPECT_EQ(prepared.variant, "onednn");
      EXPECT_EQ(name.find("ref"), std::string::npos) << name << " for " << layer.channels << " channels";
      EXPECT_EQ(name.find("gemm:"), std::string::npos) << name << " for " << layer.channels << " channels";
      EXPECT_EQ(name.find("apart"), std::string::npos) << name << " for " << layer.channels << " channels";
    }
}

// Rows that are cut into columns, one row and several, with everything that goes with a convolution.
TEST(Onednn, WideConvolutionsAreRight) {
  Numbers numbers(21);
  for (int round = 0; round < 24; ++round) {
    const int64_t stride = numbers.pick({1, 1, 2, 3});
    const int64_t dilation = numbers.pick({1, 1, 4});
    const int64_t kernel = numbers.pick({1, 3, 8});
    const int64_t reach = dilation * (kernel - 1) + 1;
    const int64_t left = numbers.between(0, reach - 1), right = numbers.between(0, reach - 1);
    const int64_t groups = numbers.pick({1, 1, 2});
    const int64_t in = groups * numbers.pick({1, 2, 3}), out = groups * numbers.pick({1, 3, 16});
    const int64_t batch = numbers.pick({1, 1, 2}), height = numbers.pick({1, 1, 1, 2});
    const int64_t width = numbers.pick({8192, 8193, 10000, 12288}) * stride;
    const std::vector<int64_t> result = {batch, out, height, (width + left + right - reach) / stride + 1};
    KernelCase c{
        .call = {.contract = Contract::conv2d}, .inputs = {}, .output = {.dims = result, .layout = numbers.layout()}};
    c.inputs.push_back(numbers.operand({batch, in, height, width}, numbers.layout()));
    c.inputs.push_back(numbers.operand({out, in / groups, 1, kernel}, Layout::RowMajor, DType::Float32, true));
    c.call.post_ops = numbers.post_ops(c.inputs, result, true);
    c.call.set("strides", std::vector<int64_t>{1, stride});
    c.call.set("dilation", std::vector<int64_t>{1, dilation});
    c.call.set("padding", std::vector<int64_t>{0, left, 0, right});
    c.call.set("groups", groups);
    expect_variants_agree(c);
    EXPECT_EQ(run_case(c)->implementation.find("reference"), std::string::npos) << c.text();
    if (HasFatalFailure()) return;
  }
}

TEST(Onednn, PacksConstantWeightsOnce) {
  PackCache packs;
  std::vector<float> weights;
  const Layer layer{64, 14, 64, 3, 1};
  const auto first = prepare_layer(layer, Layout::ChannelsLast, weights, &packs, false);
  const size_t bytes = packs.bytes();
  EXPECT_GE(bytes, weights.size() * sizeof(float));
  const auto second = prepare_layer(layer, Layout::ChannelsLast, weights, &packs, false);
  EXPECT_EQ(packs.bytes(), bytes);
}

TEST(Onednn, TheResidualInputMayShareItsMemoryWithTheResult) {
  std::vector<float> weights;
  const auto with = prepare_layer({64, 14, 64, 3, 1}, Layout::ChannelsLast, weights, nullptr, true);
  EXPECT_TRUE(with.kernel->runs_in_place(2));
  EXPECT_FALSE(with.kernel->runs_in_place(0));
  const auto without = prepare_layer({64, 14, 64, 3, 1}, Layout::ChannelsLast, weights, nullptr, false);
  EXPECT_FALSE(without.kernel->runs_in_place(0));
}

TEST(Onednn, ManyThreadsShareAKernel) {
  constexpr int64_t kSize = 32;
  std::vector<float> weights(kSize * kSize, 1.0F);
  const OperandSpec data{.dtype = DType::Float32, .dims = {kSize, kSize}};
  const std::vector<OperandSpec> inputs = {data,
                                           {.dtype = DType::Float32,
                                            .dims = {kSize, kSize},
                                            .constant = reinterpret_cast<const std::byte*>(weights.data())}};
  const KernelCall call{.contract = Contract::matmul, .inputs = 2};
  const auto prepared = prepare_kernel({.call = &call, .inputs = inputs, .outputs = {&data, 1}});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      const std::vector<float> rows(kSize * kSize, static_cast<float>(t));
      std::vector<float> result(kSize * kSize);
      const auto scratch = allocate_packed(prepared.kernel->scratch_bytes());
      const std::vector<const std::byte*> from = {reinterpret_cast<const std::byte*>(rows.data()), inputs[1].constant};
      auto* to = reinterpret_cast<std::byte*>(result.data());
      for (int round = 0; round < 200; ++round) {
        std::fill(result.begin(), result.end(), -1.0F);
        const auto status = prepared.kernel->run({.inputs = from, .outputs = {&to, 1}, .scratch = scratch.get()});
        if (status.failed) ++wrong[t];
        for (const float value : result)
          if (value != static_cast<float>(t) * kSize) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace ingot::test
