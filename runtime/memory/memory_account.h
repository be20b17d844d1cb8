#pragma once
#include <cstddef>
#include <cstdint>

namespace ingot {

struct MemoryStatistics {
  size_t in_use = 0;  // bytes of live objects and arena segments
  size_t peak = 0;    // the largest in_use since reset_peak
  size_t kept = 0;    // bytes in free lists and idle arena chunks
  uint64_t system_allocations = 0;
};

// Counts bytes against a limit; shared by everything that allocates for one session. Not thread safe.
class MemoryAccount {
 public:
  // ResourceExhausted, with both numbers, where `limit` would be passed; then nothing is charged.
  void charge(size_t bytes) {
    if (bytes > limit_ || statistics_.in_use > limit_ - bytes) refuse(bytes);
    statistics_.in_use += bytes;
    if (statistics_.in_use > statistics_.peak) statistics_.peak = statistics_.in_use;
  }
  void credit(size_t bytes) noexcept { statistics_.in_use -= bytes; }
  void reset_peak() { statistics_.peak = statistics_.in_use; }

  // What is in use already may lie above a new limit.
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t limit() const { return limit_; }
  // True where `bytes` more from the system fit under the limit together with what is in use and what is kept.
  bool has_room(size_t bytes) const;
  const MemoryStatistics& statistics() const { return statistics_; }
  MemoryStatistics& statistics() { return statistics_; }

 private:
  [[noreturn]] void refuse(size_t bytes) const;

  size_t limit_ = SIZE_MAX;
  MemoryStatistics statistics_;
};

}  // namespace ingot
