#pragma once
#include <cstddef>
#include <vector>

#include "runtime/memory/memory_account.h"

namespace ingot {

// Segments for the activations of functions, last in first out. Memory is reserved in chunks that never move while a
// segment lies in them, and is kept for the next activations: in steady state the system is not asked. Not thread safe.
class Arena {
 public:
  explicit Arena(MemoryAccount& account) : account_(&account) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  struct Mark {
    size_t chunk = 0;
    size_t offset = 0;
  };
  // Aligned to 64, not initialised. Throws OutOfMemory or ResourceExhausted; then nothing changes.
  std::byte* push(size_t bytes);
  Mark mark() const { return top_; }
  // Frees everything pushed since `mark`.
  void pop(Mark mark) noexcept;
  // Gives chunks without segments back to the system.
  void trim() noexcept;

 private:
  struct Chunk {
    std::byte* memory;
    size_t size;
    size_t used;  // end of its last segment
  };

  void make_room(size_t bytes);
  void drop_chunk(size_t index) noexcept;

  MemoryAccount* account_;
  std::vector<Chunk> chunks_;
  Mark top_;
};

}  // namespace ingot
