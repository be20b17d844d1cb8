#include "runtime/memory/memory_pool.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/object/objects.h"

namespace ingot {
namespace {

TEST(MemoryPool, ClassesHoldTheirBytesAndWasteLittle) {
  size_t before = 0;
  for (size_t i = 0; i < MemoryPool::kClasses; ++i) {
    const size_t bytes = MemoryPool::class_bytes(i);
    EXPECT_GT(bytes, before);
    EXPECT_EQ(bytes % 64, 0u);
    EXPECT_EQ(MemoryPool::class_of(bytes), i);
    EXPECT_EQ(MemoryPool::class_of(before + 1), i);
    EXPECT_LE(bytes - before, std::max<size_t>(64, bytes / 8));
    before = bytes;
  }
  EXPECT_EQ(MemoryPool::class_of(0), 0u);
  EXPECT_EQ(before, size_t{1} << 40);
}

TEST(MemoryPool, FreedBlocksAreUsedAgain) {
  MemoryAccount account;
  MemoryPool pool(account);
  const auto first = pool.allocate(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.memory) % 64, 0u);
  std::memset(first.memory, 1, 128);
  pool.deallocate(first.memory, first.size_class);
  EXPECT_EQ(account.statistics().in_use, 0u);
  EXPECT_EQ(account.statistics().kept, 128u);
  const auto second = pool.allocate(128);
  EXPECT_EQ(second.memory, first.memory);
  EXPECT_EQ(account.statistics().system_allocations, 1u);
  EXPECT_EQ(account.statistics().in_use, 128u);
  EXPECT_EQ(account.statistics().kept, 0u);
  pool.deallocate(second.memory, second.size_class);
  pool.trim();
  EXPECT_EQ(account.statistics().kept, 0u);
}

TEST(MemoryPool, TheLimitIsAnErrorWithBothNumbers) {
  MemoryAccount account;
  account.set_limit(1000);
  MemoryPool pool(account);
  const auto block = pool.allocate(512);
  try {
    pool.allocate(600);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::ResourceExhausted);
    EXPECT_STREQ(error.what(), "the memory limit is 1000 bytes: 512 are in use and 640 more are wanted");
  }
  EXPECT_EQ(account.statistics().in_use, 512u);
  pool.deallocate(block.memory, block.size_class);
  const auto other = pool.allocate(600);
  EXPECT_EQ(account.statistics().kept, 0u) << "kept blocks are given back before the limit is passed";
  pool.deallocate(other.memory, other.size_class);
}

TEST(MemoryPool, HugeBlocksAreOutOfMemory) {
  MemoryAccount account;
  MemoryPool pool(account);
  for (const size_t bytes : {SIZE_MAX, (size_t{1} << 40) + 1}) {
    try {
      pool.allocate(bytes);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
    }
  }
  EXPECT_EQ(account.statistics().in_use, 0u);
}

TEST(MemoryPool, SharedObjectsLeaveTheAccount) {
  MemoryAccount account;
  Ref<StringObject> text;
  {
    MemoryPool pool(account);
    text = make_string(&pool, "outlives its pool");
    EXPECT_GT(account.statistics().in_use, 0u);
    share(text.get());
    EXPECT_EQ(account.statistics().in_use, 0u);
  }
  EXPECT_EQ(text->text(), "outlives its pool");
}

TEST(MemoryPool, PeakIsTheMostInUse) {
  MemoryAccount account;
  MemoryPool pool(account);
  { auto text = make_string(&pool, std::string(1000, 'x')); }
  EXPECT_GE(account.statistics().peak, 1000u);
  account.reset_peak();
  EXPECT_EQ(account.statistics().peak, 0u);
}

}  // namespace
}  // namespace ingot
