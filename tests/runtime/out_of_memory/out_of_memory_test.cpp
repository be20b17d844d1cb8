// Takes the place of runtime/object/system_memory.cpp in this program: the n-th request for memory fails, and every
// block that is not given back is noticed.

#include <cstdlib>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/memory_pool.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tensor/tensor_text.h"

namespace ingot {
namespace {

struct System {
  int64_t requests_until_failure = -1;
  int64_t live = 0;
} the_system;

}  // namespace

void* allocate_system(size_t bytes, BlockStart) {
  if (the_system.requests_until_failure == 0) fail(ErrorCode::OutOfMemory, "no block of {} bytes", bytes);
  if (the_system.requests_until_failure > 0) --the_system.requests_until_failure;
  ++the_system.live;
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void deallocate_system(void* memory) noexcept {
  --the_system.live;
  std::free(memory);
}

namespace {

// Runs `scenario` with the first request failing, then the second, ... until it gets through.
void fail_at_every_request(const std::function<void()>& scenario) {
  for (int64_t n = 0;; ++n) {
    ASSERT_LT(n, 1000);
    the_system = {n, 0};
    bool failed = false;
    try {
      scenario();
    } catch (const Error& error) {
      failed = true;
      EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
    }
    the_system.requests_until_failure = -1;
    EXPECT_EQ(the_system.live, 0) << "blocks stay behind when request " << n << " fails";
    if (!failed) {
      EXPECT_GT(n, 0);
      return;
    }
  }
}

Value nested_value(ObjectPool* pool) {
  auto tensor = make_tensor(pool, DType::Float32, std::vector<int64_t>{2, 3});
  auto view = make_view(pool, tensor, std::vector<int64_t>{6});
  auto strings = make_tensor(pool, DType::String, std::vector<int64_t>{2});
  strings->elements<StringObject*>()[0] = make_string(pool, "kept").detach();
  Value inner[] = {Value(view), Value(make_shape(pool, std::vector<int64_t>{2, 3})), Value(std::move(strings))};
  Value outer[] = {Value(make_closure(pool, 1, inner)), Value(tensor), Value::prim(int64_t{1})};
  return Value(make_tuple(pool, outer));
}

TEST(OutOfMemory, SharedObjectsLeaveNothingBehind) {
  fail_at_every_request([] { nested_value(nullptr); });
}

TEST(OutOfMemory, PoolsLeaveNothingBehindAndKeepTheirAccount) {
  fail_at_every_request([] {
    MemoryAccount account;
    {
      MemoryPool pool(account);
      try {
        Value value = nested_value(&pool);
        share(value);
      } catch (...) {
        EXPECT_EQ(account.statistics().in_use, 0u);
        throw;
      }
      EXPECT_EQ(account.statistics().in_use, 0u);
    }
    EXPECT_EQ(account.statistics().kept, 0u);
  });
}

TEST(OutOfMemory, APoolGivesBackWhatItKeepsBeforeItGivesUp) {
  MemoryAccount account;
  MemoryPool pool(account);
  { auto kept = make_tensor(&pool, DType::UInt8, std::vector<int64_t>{10'000}); }
  EXPECT_GT(account.statistics().kept, 0u);
  the_system.requests_until_failure = 0;
  EXPECT_THROW(make_tensor(&pool, DType::UInt8, std::vector<int64_t>{100'000}), Error);
  the_system.requests_until_failure = -1;
  EXPECT_EQ(account.statistics().kept, 0u);
  EXPECT_EQ(account.statistics().in_use, 0u);
}

TEST(OutOfMemory, ArenasStayUsable) {
  fail_at_every_request([] {
    MemoryAccount account;
    Arena arena(account);
    arena.push(100);
    const auto mark = arena.mark();
    try {
      for (int i = 0; i < 10; ++i) arena.push(100'000);
    } catch (...) {
      arena.pop(mark);
      EXPECT_EQ(account.statistics().in_use, 128u);
      EXPECT_NO_THROW(arena.push(1000));
      throw;
    }
  });
}

TEST(OutOfMemory, ParsedTensorsLeaveNothingBehind) {
  fail_at_every_request([] { parse_tensor("3xstr=\"a\" \"b\" \"c\""); });
}

}  // namespace
}  // namespace ingot
