#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/object/pool.h"

namespace ingot {

struct MemoryStatistics {
  size_t in_use = 0;  // bytes of live objects and arena segments
  size_t peak = 0;    // the largest in_use since reset_peak
  size_t kept = 0;    // bytes in free lists and idle arena segments
  uint64_t system_allocations = 0;
};

// Counts bytes against a limit; shared by everything that allocates for one session. Not thread safe.
class MemoryAccount {
 public:
  // ResourceExhausted, with both numbers, where `limit` would be passed.
  void charge(size_t bytes);
  void credit(size_t bytes) noexcept;
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t limit() const { return limit_; }
  const MemoryStatistics& statistics() const { return statistics_; }
  MemoryStatistics& statistics() { return statistics_; }

 private:
  size_t limit_ = SIZE_MAX;
  MemoryStatistics statistics_;
};

// Free lists by size class for the objects of one session (see ObjectPool). In steady state it never asks the system.
class MemoryPool final : public ObjectPool {
 public:
  explicit MemoryPool(MemoryAccount& account) : account_(&account) {}
  ~MemoryPool();

  Block allocate(size_t bytes) override;
  void deallocate(void* memory, uint16_t size_class) noexcept override;
  void disown(void* memory, uint16_t size_class) noexcept override;
  // Gives everything in the free lists back to the system.
  void trim() noexcept;

 private:
  static constexpr size_t kClasses = 256;
  MemoryAccount* account_;
  std::array<void*, kClasses> free_{};
};

// Segments for the activations of functions, last in first out. Memory is reserved in chunks that never move while a
// segment lies in them.
class Arena {
 public:
  explicit Arena(MemoryAccount& account) : account_(&account) {}
  ~Arena();

  struct Mark {
    size_t chunk = 0;
    size_t offset = 0;
  };
  // Aligned to 64, not initialised. Throws OutOfMemory or ResourceExhausted.
  std::byte* push(size_t bytes);
  Mark mark() const { return top_; }
  // Frees everything pushed since `mark`; the memory is kept for the next push.
  void pop(Mark mark) noexcept;
  void trim() noexcept;

 private:
  struct Chunk {
    std::byte* memory;
    size_t size;
  };
  MemoryAccount* account_;
  std::vector<Chunk> chunks_;
  Mark top_;
};

}  // namespace ingot
