#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

// The instants from `first` to `last`, both included.
struct Life {
  uint32_t first;
  uint32_t last;
  friend bool operator==(const Life&, const Life&) = default;
};

// One tensor or scratch area, alive from instant `first` to instant `last`, both included, but for the gaps: in order,
// apart from each other, and neither at the first nor at the last instant.
struct Interval {
  size_t bytes;
  uint32_t first;
  uint32_t last;
  // May lie exactly on the memory of this earlier interval, whose last instant is this one's first (an operation that
  // works in place); -1: none.
  int32_t in_place_of = -1;
  std::vector<Life> gaps = {};
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // one per interval
  size_t total = 0;             // end of the last interval, aligned
  size_t lower_bound = 0;       // the largest sum of sizes alive at one instant, in-place pairs counted once
  size_t sum = 0;               // all sizes: what memory would be needed without sharing
};

// Lays out intervals in one block so that intervals alive at the same time never overlap, except for in-place pairs.
//
// Greedy by size, best fit (arXiv 2001.03288); where that misses the lower bound, up to 2048 blocks are laid
// out in other orders as well, and the best result is kept. Pure: same intervals, same plan. Offsets and sizes are
// multiples of `alignment`, a power of two. An empty input gives an empty plan. Throws ResourceExhausted when a size
// overflows.
MemoryPlan plan_memory(std::span<const Interval> intervals, size_t alignment);

}  // namespace ingot
