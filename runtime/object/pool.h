#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

#include "runtime/object/object.h"

namespace ingot {

// Where the memory of objects comes from. One implementation: MemoryPool in runtime/memory, one per session, which
// keeps free lists by size class and accounts every byte against the session's limit. Not thread safe.
class ObjectPool {
 public:
  struct Block {
    void* memory;
    uint16_t size_class;
  };

  // The size class of objects that never had a pool.
  static constexpr uint16_t kNoClass = UINT16_MAX;

  // At least `bytes` bytes aligned to 64. Throws OutOfMemory or, over the session's limit, ResourceExhausted.
  virtual Block allocate(size_t bytes) = 0;
  virtual void deallocate(void* memory, uint16_t size_class) noexcept = 0;
  // Called before an object leaves the session: its memory is from now on returned to the system by
  // `deallocate_system`.
  virtual void disown(void* memory, uint16_t size_class) noexcept = 0;

 protected:
  ~ObjectPool() = default;
};

// Where blocks of 64 KB to 4 MB begin. To a processor a load whose address has the last 12 bits of a store a little in
// front of it seems to wait for that store: what reads one tensor and writes another takes up to a quarter longer where
// the second lies 64 to 256 bytes further within its page. Half a page apart they are out of each other's way: tensors
// of hosts begin with a page, those of pools in the middle of one.
enum class BlockStart : uint8_t { Page, HalfPage };

// Memory without a pool: aligned to 64. Throws OutOfMemory, always so above 512 GiB. The one place where objects,
// arenas and pools ask the system; both functions stand alone in system_memory.cpp, so that a test program may define
// them itself (to count, to fail).
void* allocate_system(size_t bytes, BlockStart start = BlockStart::Page);
void deallocate_system(void* memory) noexcept;

// The ObjectClass of T. A class with members that share() must reach has a `static void share_held(Object*) noexcept`.
template <typename T>
constexpr ObjectClass object_class() {
  ObjectClass result{[](Object* object) noexcept { static_cast<T*>(object)->~T(); }, nullptr};
  if constexpr (requires(Object * object) { T::share_held(object); }) result.share_held = T::share_held;
  return result;
}
template <typename T>
inline constexpr ObjectClass kObjectClass = object_class<T>();

// Makes an object with `trailing` bytes behind it. With a pool it is Local to the pool's session, without one it is
// Shared.
template <typename T, typename... Args>
Ref<T> make_object(ObjectPool* pool, size_t trailing, Args&&... args) {
  const ObjectPool::Block block = pool != nullptr
                                      ? pool->allocate(sizeof(T) + trailing)
                                      : ObjectPool::Block{allocate_system(sizeof(T) + trailing), ObjectPool::kNoClass};
  T* object = ::new (block.memory) T(pool != nullptr ? Counting::Local : Counting::Shared, std::forward<Args>(args)...);
  object->pool = pool;
  object->type = &kObjectClass<T>;
  object->size_class = block.size_class;
  return Ref<T>::adopt(object);
}

}  // namespace ingot
