// Tiles of matrix products against one chain of fused multiply-adds per element: the same bits.
#include "runtime/jit/product_tile.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace ingot::jit {
namespace {

class Tiles : public testing::TestWithParam<Cpu> {
 protected:
  void SetUp() override {
    if (GetParam() > detect_cpu()) GTEST_SKIP() << "this machine has no " << cpu_name(GetParam());
    tiles_ = ProductTiles::make(GetParam());
    ASSERT_NE(tiles_, nullptr);
  }

  std::vector<float> numbers(size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random_);
    return values;
  }

  std::unique_ptr<const ProductTiles> tiles_;
  std::mt19937 random_{7};
};

constexpr float kUntouched = 77;
constexpr int64_t kBytes = sizeof(float);

TEST_P(Tiles, OfEverySizeAreChainsOfFusedMultiplyAdds) {
  const int64_t width = tiles_->width();
  for (const int64_t depth : {1, 2, 17})
    for (int64_t rows = 1; rows <= tiles_->rows(); ++rows)
      for (int64_t columns = 1; columns <= width; ++columns) {
        const int64_t a_row = depth + 3;
        const int64_t c_row = width + 5;
        const auto a = numbers(static_cast<size_t>(rows * a_row));
        const auto b = numbers(static_cast<size_t>(depth * width));
        const auto bias = numbers(static_cast<size_t>(width));
        const auto initial = numbers(static_cast<size_t>(rows * width));
        std::vector<float> c(static_cast<size_t>(rows * c_row), kUntouched);
        ProductTileArgs args{.a = a.data(),
                             .b = b.data(),
                             .c = c.data(),
                             .initial = columns % 2 == 0 ? initial.data() : nullptr,
                             .bias = columns % 3 == 0 ? bias.data() : nullptr,
                             .depth = depth,
                             .a_row = a_row * kBytes,
                             .a_column = kBytes,
                             .b_row = width * kBytes,
                             .c_row = c_row * kBytes,
                             .initial_row = width * kBytes,
                             .scale = columns % 4 == 0 ? 0.37F : 1.0F,
                             .last_columns = 0};
        tiles_->run(args, rows, columns);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < c_row; ++j) {
            float expected = kUntouched;
            if (j < columns) {
              expected = args.initial ? initial[static_cast<size_t>(i * width + j)] : 0;
              for (int64_t k = 0; k < depth; ++k)
                expected =
                    std::fma(a[static_cast<size_t>(i * a_row + k)], b[static_cast<size_t>(k * width + j)], expected);
              expected *= args.scale;
              if (args.bias) expected += bias[static_cast<size_t>(j)];
            }
            ASSERT_EQ(c[static_cast<size_t>(i * c_row + j)], expected)
                << rows << " rows, " << columns << " columns, depth " << depth << ", element " << i << ", " << j;
          }
      }
}

TEST_P(Tiles, ReadNothingBehindTheLastColumn) {
  // Columns that are not there hold NaN; a transposed a is one with another distance between columns.
  const int64_t width = tiles_->width();
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  std::vector<float> b(static_cast<size_t>(3 * width), std::nanf(""));
  for (int64_t k = 0; k < 3; ++k) b[static_cast<size_t>(k * width)] = static_cast<float>(k + 1);
  std::vector<float> c(2, 0);
  ProductTileArgs args{.a = a.data(),
                       .b = b.data(),
                       .c = c.data(),
                       .initial = nullptr,
                       .bias = nullptr,
                       .depth = 3,
                       .a_row = kBytes,
                       .a_column = 2 * kBytes,
                       .b_row = width * kBytes,
                       .c_row = kBytes,
                       .initial_row = 0,
                       .scale = 1,
                       .last_columns = 0};
  tiles_->run(args, 2, 1);
  EXPECT_EQ(c, (std::vector<float>{1 * 1 + 3 * 2 + 5 * 3, 2 * 1 + 4 * 2 + 6 * 3}));
}

TEST_P(Tiles, TransposeBlocks) {
  constexpr int64_t kBlock = ProductTiles::kBlock;
  const int64_t rows = 3 * kBlock;
  const auto from = numbers(static_cast<size_t>(kBlock * (rows + 1)));
  std::vector<float> to(static_cast<size_t>(rows * (kBlock + 2)), kUntouched);
  tiles_->transpose(from.data(), (rows + 1) * kBytes, to.data(), (kBlock + 2) * kBytes, 3);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < kBlock + 2; ++j)
      ASSERT_EQ(to[static_cast<size_t>(i * (kBlock + 2) + j)],
                j < kBlock ? from[static_cast<size_t>(j * (rows + 1) + i)] : kUntouched);
}

INSTANTIATE_TEST_SUITE_P(Cpus, Tiles, testing::Values(Cpu::Avx2, Cpu::Avx512),
                         [](const auto& param) { return std::string(cpu_name(param.param)); });

}  // namespace
}  // namespace ingot::jit
