#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/memory/memory_account.h"
#include "runtime/object/pool.h"

namespace ingot {

// Free lists by size class for the objects of one session (see ObjectPool). In steady state it never asks the system.
//
// Classes are the multiples of 64 up to 1024, from there on eight to each doubling, so that a block wastes at most an
// eighth. Blocks above the largest class are refused with OutOfMemory. Every block comes from the system by itself:
// objects that leave the session take theirs along. Blocks in free lists are given back to the system before a limit is
// passed.
//
// Outlives the Local objects made from it.
class MemoryPool final : public ObjectPool {
 public:
  explicit MemoryPool(MemoryAccount& account) : account_(&account) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  Block allocate(size_t bytes) override;
  void deallocate(void* memory, uint16_t size_class) noexcept override;
  void disown(void* memory, uint16_t size_class) noexcept override;
  // Takes a block that some pool disowned: nobody uses it any more.
  void adopt(void* memory, uint16_t size_class) noexcept;
  // Gives everything in the free lists back to the system.
  void trim() noexcept;

  static constexpr size_t kClasses = 256;
  // The class of the smallest blocks that hold `bytes`, and the size of the blocks of a class. `bytes` is at most
  // class_bytes(kClasses - 1).
  static size_t class_of(size_t bytes);
  static size_t class_bytes(size_t size_class);

 private:
  struct FreeBlock {
    FreeBlock* next;
  };

  void* from_system(size_t bytes);

  MemoryAccount* account_;
  std::array<FreeBlock*, kClasses> free_{};
};

}  // namespace ingot
