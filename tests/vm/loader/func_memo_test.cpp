#include "vm/loader/func_memo.h"

#include <vector>

#include <gtest/gtest.h>

namespace ingot::vm {
namespace {

using Key = std::vector<int64_t>;

TEST(FuncMemo, KeepsTheLastFunctionAlone) {
  FuncMemo memo;
  EXPECT_EQ(memo.find(Key{0}), std::nullopt);
  memo.keep(Key{0}, true);
  EXPECT_EQ(memo.find(Key{0}), true);
  memo.keep(Key{7}, false);
  EXPECT_EQ(memo.find(Key{7}), false);
  EXPECT_EQ(memo.find(Key{0}), std::nullopt);
}

TEST(FuncMemo, TellsNumbersApart) {
  FuncMemo memo;
  memo.keep(Key{1, 3}, true);
  memo.keep(Key{1, 4}, false);
  memo.keep(Key{1, 3, 4}, false);
  EXPECT_EQ(memo.find(Key{1, 3}), true);
  EXPECT_EQ(memo.find(Key{1, 4}), false);
  EXPECT_EQ(memo.find(Key{1, 3, 4}), false);
  EXPECT_EQ(memo.find(Key{1, 5}), std::nullopt);
  EXPECT_EQ(memo.find(Key{2, 3}), std::nullopt);
}

TEST(FuncMemo, ForgetsTheOldestAndLongKeys) {
  FuncMemo memo;
  for (int64_t n = 0; n < 9; ++n) memo.keep(Key{1, n}, true);
  EXPECT_EQ(memo.find(Key{1, 0}), std::nullopt);
  EXPECT_EQ(memo.find(Key{1, 1}), true);
  EXPECT_EQ(memo.find(Key{1, 8}), true);
  const Key longer(FuncMemo::kMaxNumbers + 1, 1);
  memo.keep(longer, true);
  EXPECT_EQ(memo.find(longer), std::nullopt);
}

}  // namespace
}  // namespace ingot::vm
