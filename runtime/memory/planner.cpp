#include "runtime/memory/planner.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"

namespace ingot {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// What is laid out as one: an interval, or a chain of intervals of equal size each in place of the one before.
struct Block {
  size_t bytes;
  uint32_t first;
  uint32_t last;
  // The block of a larger interval on which this one may begin; kNone: none.
  uint32_t host = kNone;
  size_t offset = 0;

  size_t end() const { return offset + bytes; }
};

// For each interval the one that may take its memory over: the largest that asks for it and fits; kNone where nobody.
std::vector<uint32_t> find_heirs(std::span<const Interval> intervals, std::span<const size_t> sizes) {
  std::vector<uint32_t> heirs(intervals.size(), kNone);
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    const int32_t from = intervals[i].in_place_of;
    if (from < 0) continue;
    const auto origin = static_cast<uint32_t>(from);
    if (origin >= i || intervals[origin].last != intervals[i].first)
      fail(ErrorCode::Internal, "interval {} cannot be in place of {}", i, from);
    // Of three intervals in place of each other, the outer two must not meet.
    if (sizes[i] > sizes[origin] || intervals[origin].first == intervals[origin].last) continue;
    if (heirs[origin] == kNone || sizes[i] > sizes[heirs[origin]]) heirs[origin] = i;
  }
  return heirs;
}

size_t find_lower_bound(std::span<const Interval> intervals, std::span<const size_t> sizes,
                        std::span<const uint32_t> heirs) {
  // Before instant t: what begins at t is added and what ended before it taken away; an heir's size is added one
  // instant later, when the memory is its own.
  struct Change {
    uint64_t instant;
    bool added;
    size_t bytes;
  };
  std::vector<Change> changes;
  changes.reserve(2 * intervals.size());
  std::vector<bool> inherits(intervals.size());
  for (const uint32_t heir : heirs)
    if (heir != kNone) inherits[heir] = true;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const auto begin = uint64_t{intervals[i].first} + (inherits[i] ? 1 : 0);
    const auto end = uint64_t{intervals[i].last} + 1;
    if (begin >= end) continue;
    changes.push_back({begin, true, sizes[i]});
    changes.push_back({end, false, sizes[i]});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.instant != b.instant ? a.instant < b.instant : a.added < b.added;
  });
  size_t alive = 0;
  size_t bound = 0;
  for (const Change& change : changes) {
    alive = change.added ? alive + change.bytes : alive - change.bytes;
    bound = std::max(bound, alive);
  }
  return bound;
}

// Blocks that have their place, in the order of their offsets. Lifetimes lie apart so that the search runs over few
// bytes.
class Placed {
 public:
  explicit Placed(size_t count) {
    lives_.reserve(count);
    blocks_.reserve(count);
    met_.resize(count);
  }

  // Collects the blocks alive together with `block`, by offset.
  std::span<const Block* const> meeting(const Block& block) {
    size_t count = 0;
    const Block** met = met_.data();
    for (size_t i = 0, size = lives_.size(); i < size; ++i) {
      met[count] = blocks_[i];
      count += static_cast<size_t>(lives_[i].first <= block.last) & static_cast<size_t>(lives_[i].last >= block.first);
    }
    return {met, count};
  }

  void insert(const Block& block) {
    const auto place = std::upper_bound(blocks_.begin(), blocks_.end(), block.offset,
                                        [](size_t offset, const Block* other) { return offset < other->offset; });
    lives_.insert(lives_.begin() + (place - blocks_.begin()), Life{block.first, block.last});
    blocks_.insert(place, &block);
  }

 private:
  struct Life {
    uint32_t first;
    uint32_t last;
  };
  std::vector<Life> lives_;
  std::vector<const Block*> blocks_;
  std::vector<const Block*> met_;
};

// True where `block` may begin where its host begins: nothing but the host is there.
bool fits_on_host(const Block& block, const Block& host, std::span<const Block* const> met) {
  for (const Block* other : met)
    if (other != &host && other->offset < host.offset + block.bytes && other->end() > host.offset) return false;
  return true;
}

// The start of the smallest gap that holds `bytes`; the end of all blocks where there is none.
size_t best_fit(size_t bytes, std::span<const Block* const> met) {
  size_t best = SIZE_MAX;
  size_t best_gap = SIZE_MAX;
  size_t end = 0;
  for (const Block* other : met) {
    if (other->offset >= end + bytes && other->offset - end < best_gap) {
      best = end;
      best_gap = other->offset - end;
    }
    end = std::max(end, other->end());
  }
  return best != SIZE_MAX ? best : end;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Interval> intervals, size_t alignment) {
  MemoryPlan plan;
  if (intervals.size() >= INT32_MAX) fail(ErrorCode::ResourceExhausted, "{} tensors are too many", intervals.size());
  std::vector<size_t> sizes(intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].first > intervals[i].last) fail(ErrorCode::Internal, "interval {} ends before it begins", i);
    const auto size = checked_align_up(intervals[i].bytes, alignment);
    const auto sum = size ? checked_add(plan.sum, *size) : std::nullopt;
    if (!sum)
      fail(ErrorCode::ResourceExhausted,
           "the sizes of {} tensors, the last of {} bytes, add up to more than 2^64 bytes", i + 1, intervals[i].bytes);
    sizes[i] = *size;
    plan.sum = *sum;
  }
  const auto heirs = find_heirs(intervals, sizes);
  plan.lower_bound = find_lower_bound(intervals, sizes, heirs);

  std::vector<Block> blocks;
  blocks.reserve(intervals.size());
  std::vector<uint32_t> block_of(intervals.size());
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    const int32_t from = intervals[i].in_place_of;
    const bool inherits = from >= 0 && heirs[static_cast<size_t>(from)] == i;
    const uint32_t host = inherits ? block_of[static_cast<size_t>(from)] : kNone;
    if (inherits && blocks[host].bytes == sizes[i]) {
      block_of[i] = host;
      blocks[host].last = intervals[i].last;
    } else {
      block_of[i] = static_cast<uint32_t>(blocks.size());
      blocks.push_back({sizes[i], intervals[i].first, intervals[i].last, host});
    }
  }

  // Ties: hosts and what begins first come first.
  std::vector<uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (blocks[a].bytes != blocks[b].bytes) return blocks[a].bytes > blocks[b].bytes;
    return blocks[a].first != blocks[b].first ? blocks[a].first < blocks[b].first : a < b;
  });
  Placed placed(blocks.size());
  for (const uint32_t id : order) {
    Block& block = blocks[id];
    if (block.bytes == 0) continue;
    const auto met = placed.meeting(block);
    const bool on_host = block.host != kNone && fits_on_host(block, blocks[block.host], met);
    block.offset = on_host ? blocks[block.host].offset : best_fit(block.bytes, met);
    placed.insert(block);
    plan.total = std::max(plan.total, block.end());
  }

  plan.offsets.resize(intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) plan.offsets[i] = blocks[block_of[i]].offset;
  return plan;
}

}  // namespace ingot
