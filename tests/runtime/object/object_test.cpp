#include "runtime/object/object.h"

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/object/objects.h"

namespace ingot {
namespace {

// Remembers every block.
class TestPool final : public ObjectPool {
 public:
  Block allocate(size_t bytes) override {
    void* memory = allocate_system(bytes);
    live.insert(memory);
    return {memory, 7};
  }
  void deallocate(void* memory, uint16_t size_class) noexcept override {
    EXPECT_EQ(size_class, 7);
    EXPECT_EQ(live.erase(memory), 1u);
    deallocate_system(memory);
  }
  void disown(void* memory, uint16_t size_class) noexcept override {
    EXPECT_EQ(size_class, 7);
    EXPECT_EQ(live.erase(memory), 1u);
  }
  std::set<void*> live;
};

Value nest(ObjectPool* pool, int depth, Value inner) {
  for (int i = 0; i < depth; ++i) {
    Value fields[] = {std::move(inner), Value::prim(int64_t{i})};
    inner = i % 2 == 0 ? Value(make_tuple(pool, fields)) : Value(make_closure(pool, 3, fields));
  }
  return inner;
}

TEST(Object, LastReleaseReturnsTheMemoryToItsPool) {
  TestPool pool;
  auto shape = make_shape(&pool, std::vector<int64_t>{1, 2});
  EXPECT_EQ(shape->counting, Counting::Local);
  auto second = shape;
  EXPECT_EQ(shape->count, 2u);
  shape = {};
  EXPECT_EQ(pool.live.size(), 1u);
  second = {};
  EXPECT_TRUE(pool.live.empty());
}

TEST(Object, ReleasingATupleReleasesItsFields) {
  TestPool pool;
  auto text = make_string(&pool, "kept");
  Value fields[] = {Value(text), Value(make_string(&pool, "lost")), Value::prim(int64_t{1})};
  auto tuple = make_tuple(&pool, fields);
  EXPECT_TRUE(fields[0].is_none());
  EXPECT_EQ(text->count, 2u);
  tuple = {};
  EXPECT_EQ(text->count, 1u);
  EXPECT_EQ(pool.live.size(), 1u);
}

TEST(Object, DeepNestsAreDestroyedWithoutRecursion) {
  TestPool pool;
  Value deep = nest(&pool, 1'000'000, Value(make_string(&pool, "x")));
  EXPECT_EQ(pool.live.size(), 1'000'001u);
  deep = Value();
  EXPECT_TRUE(pool.live.empty());
}

TEST(Object, DeepNestsAreSharedWithoutRecursion) {
  TestPool pool;
  Value deep = nest(&pool, 1'000'000, Value(make_string(&pool, "x")));
  share(deep);
  EXPECT_TRUE(pool.live.empty());
  EXPECT_EQ(deep.slot().object->counting, Counting::Shared);
  EXPECT_EQ(deep.slot().object->pool, nullptr);
}

TEST(Object, ShareReachesEverythingOnce) {
  TestPool pool;
  auto text = make_string(&pool, "twice");
  Value inner_fields[] = {Value(text), Value(text)};
  auto inner = make_tuple(&pool, inner_fields);
  Value outer_fields[] = {Value(inner), Value(inner), Value(text)};
  Value outer(make_tuple(&pool, outer_fields));
  share(outer);
  EXPECT_EQ(text->counting, Counting::Shared);
  EXPECT_EQ(inner->counting, Counting::Shared);
  EXPECT_EQ(text->count, 4u);
  EXPECT_TRUE(pool.live.empty());
  inner = {};
  outer = Value();
  EXPECT_EQ(text->count, 1u);
}

TEST(Object, UncountedObjectsStayUncounted) {
  TestPool pool;
  auto constant = make_string(&pool, "constant");
  constant->counting = Counting::Uncounted;
  Value fields[] = {Value(constant)};
  Value tuple(make_tuple(&pool, fields));
  share(tuple);
  EXPECT_EQ(constant->counting, Counting::Uncounted);
  EXPECT_EQ(constant->count, 1u);
  tuple = Value();
  EXPECT_EQ(constant->text(), "constant");
  destroy(constant.detach());
  EXPECT_TRUE(pool.live.empty());
}

TEST(Object, SharedObjectsMayBeReleasedByAnyThread) {
  TestPool pool;
  auto payload = std::make_shared<int>(3);
  std::weak_ptr<int> watch = payload;
  Value fields[] = {Value(make_opaque(&pool, std::move(payload)))};
  Value value(make_tuple(&pool, fields));
  share(value);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([copy = value] {
      for (int k = 0; k < 1000; ++k) Value another = copy;
    });
  value = Value();
  for (auto& thread : threads) thread.join();
  threads.clear();
  EXPECT_TRUE(watch.expired());
}

TEST(Object, WithoutAPoolObjectsAreSharedAndShareWhatTheyTake) {
  TestPool pool;
  auto text = make_string(&pool, "x");
  Value fields[] = {Value(text)};
  auto tuple = make_tuple(nullptr, fields);
  EXPECT_EQ(tuple->counting, Counting::Shared);
  EXPECT_EQ(text->counting, Counting::Shared);
}

TEST(Object, TuplesCountBorrowedValues) {
  TestPool pool;
  auto text = make_string(&pool, "x");
  Value fields[] = {Value::adopt(Slot::of(text.get(), Slot::kBorrowed))};
  auto tuple = make_tuple(&pool, fields);
  EXPECT_TRUE(fields[0].is_none());
  EXPECT_EQ(text->count, 2u);
  EXPECT_TRUE(tuple->fields()[0].counted());
}

TEST(Object, MemoryThatTheSystemRefusesIsOutOfMemory) {
  try {
    allocate_system(size_t{1} << 60);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
    EXPECT_STREQ(error.what(), "the system has no block of 1152921504606846976 bytes left");
  }
}

TEST(Object, LargeBlocksBeginWithPagesOrInTheMiddle) {
  const auto place = [](const void* memory) { return reinterpret_cast<uintptr_t>(memory) % 4096; };
  std::vector<void*> blocks;
  for (const size_t bytes : {size_t{64}, size_t{2048}, size_t{65535}, size_t{65536}, size_t{100000}, size_t{5000000}})
    for (int i = 0; i < 100; ++i)
      for (const BlockStart start : {BlockStart::Page, BlockStart::HalfPage}) {
        void* memory = allocate_system(bytes, start);
        std::memset(memory, i, bytes);
        if (bytes >= 65536 && bytes < 4000000) {
          EXPECT_EQ(place(memory), start == BlockStart::Page ? 0u : 2048u) << bytes;
        }
        EXPECT_EQ(place(memory) % 64, 0u) << bytes;
        if (bytes > 1000000) {
          deallocate_system(memory);
        } else {
          blocks.push_back(memory);
        }
      }
  for (void* memory : blocks) deallocate_system(memory);
}

TEST(Value, CopiesCountAndMovesDoNot) {
  auto text = make_string(nullptr, "x");
  Value a(text);
  Value b = a;
  EXPECT_EQ(text->count, 3u);
  Value c = std::move(b);
  EXPECT_EQ(text->count, 3u);
  EXPECT_TRUE(b.is_none());
  a = Value::prim(1.5);
  EXPECT_EQ(text->count, 2u);
  EXPECT_EQ(c.kind(), Kind::String);
}

TEST(Value, BorrowedSlotsAreNotCounted) {
  auto text = make_string(nullptr, "x");
  { Value alias = Value::adopt(Slot::of(text.get(), Slot::kBorrowed)); }
  EXPECT_EQ(text->count, 1u);
  Value owned = Value::copy_of(Slot::of(text.get(), Slot::kBorrowed));
  EXPECT_EQ(text->count, 2u);
}

TEST(Value, ImmediatesLieInTheLowBytes) {
  const Value value = Value::scalar(DType::Int8, int8_t{-1});
  EXPECT_EQ(value.kind(), Kind::Scalar);
  EXPECT_EQ(value.slot().bits, 0xffu);
  EXPECT_EQ(value.slot().as<int8_t>(), -1);
  EXPECT_EQ(Value::prim(true).slot().dtype, DType::Bool);
  EXPECT_EQ(Value::dtype(DType::Float32).slot().as<uint8_t>(), static_cast<uint8_t>(DType::Float32));
}

}  // namespace
}  // namespace ingot
