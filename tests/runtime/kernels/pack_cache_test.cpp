#include "runtime/kernels/pack_cache.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ingot {
namespace {

PackCache::Packed packed_of(size_t bytes) { return {.data = allocate_packed(bytes), .bytes = bytes}; }

TEST(PackCache, MakesOncePerKey) {
  PackCache cache;
  const std::byte a{}, b{};
  int made = 0;
  const auto make = [&] {
    ++made;
    return packed_of(100);
  };
  const auto first = cache.get(&a, "x", make);
  EXPECT_EQ(cache.get(&a, "x", make).data, first.data);
  EXPECT_NE(cache.get(&a, "y", make).data, first.data);
  EXPECT_NE(cache.get(&b, "x", make).data, first.data);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(cache.bytes(), 300u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data.get()) % 64, 0u);
}

TEST(PackCache, PackedWeightsOutliveTheCache) {
  PackCache::Packed kept;
  {
    PackCache cache;
    const std::byte a{};
    kept = cache.get(&a, "", [] { return packed_of(8); });
  }
  EXPECT_EQ(kept.data.use_count(), 1);
}

TEST(PackCache, TriesAgainAfterAnError) {
  PackCache cache;
  const std::byte a{};
  EXPECT_THROW(cache.get(&a, "", []() -> PackCache::Packed { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_TRUE(cache.get(&a, "", [] { return packed_of(8); }).data);
  EXPECT_EQ(cache.bytes(), 8u);
}

TEST(PackCache, ThreadsShareOneCopy) {
  PackCache cache;
  std::vector<std::byte> constants(4);
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  std::vector<std::vector<const std::byte*>> seen(8);
  for (auto& mine : seen)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        for (const std::byte& constant : constants) {
          const auto packed = cache.get(&constant, "k", [&] {
            ++made;
            return packed_of(64);
          });
          if (round == 0) mine.push_back(packed.data.get());
        }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 4);
  EXPECT_EQ(cache.bytes(), 256u);
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
}

}  // namespace
}  // namespace ingot
