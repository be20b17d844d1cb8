#include "runtime/memory/planner.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/memory/placed_extents.h"

namespace ingot {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// What is laid out as one: an interval, or a chain of intervals of equal size each in place of the one before.
// Sizes and places of blocks count in units of the alignment.
struct Block {
  size_t size;
  uint32_t first;
  uint32_t last;
  // The block of a larger interval on which this one may begin; kNone: none.
  uint32_t host = kNone;
  std::vector<Life> gaps = {};
  size_t offset = 0;

  size_t end() const { return offset + size; }
};

// What is left of a life without its gaps.
std::vector<Life> lives_of(Life whole, std::span<const Life> gaps) {
  std::vector<Life> lives;
  for (const Life& gap : gaps) {
    lives.push_back({whole.first, gap.first - 1});
    whole.first = gap.last + 1;
  }
  lives.push_back(whole);
  return lives;
}

void check_gaps(const Interval& interval) {
  uint32_t behind = interval.first;
  for (const Life& gap : interval.gaps) {
    if (gap.first <= behind || gap.last < gap.first || gap.last >= interval.last)
      fail(ErrorCode::Internal, "a gap from {} to {} does not lie in an interval from {} to {}", gap.first, gap.last,
           interval.first, interval.last);
    behind = gap.last + 1;
  }
}

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
    const auto add = [&](uint64_t begin, uint64_t end) {
      if (begin >= end) return;
      changes.push_back({begin, true, sizes[i]});
      changes.push_back({end, false, sizes[i]});
    };
    auto begin = uint64_t{intervals[i].first} + (inherits[i] ? 1 : 0);
    for (const Life& gap : intervals[i].gaps) {
      add(begin, gap.first);
      begin = uint64_t{gap.last} + 1;
    }
    add(begin, uint64_t{intervals[i].last} + 1);
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

// True where `block` may begin where its host begins. At its first instant only the host, whose last it is, lies there.
template <typename Placed>
bool fits_on_host(const Block& block, const Block& host, const Placed& placed) {
  if (block.first == block.last) return true;
  for (Life life : lives_of({block.first, block.last}, block.gaps)) {
    if (life.first == block.first && life.first++ == life.last) continue;
    if (!placed.is_free(life, host.offset, host.offset + block.size)) return false;
  }
  return true;
}

// The start of the smallest gap that holds `block`; the end of all extents that it meets where there is none.
template <typename Placed>
size_t best_fit(const Block& block, Placed& placed) {
  const auto free = block.gaps.empty()
                        ? placed.free_during(Life{block.first, block.last}, block.size)
                        : placed.free_during(lives_of({block.first, block.last}, block.gaps), block.size);
  size_t best = free.end;
  size_t best_size = SIZE_MAX;
  for (const auto& gap : free.gaps) {
    const size_t size = gap.end - gap.begin;
    if (size >= best_size) continue;
    best = gap.begin;
    best_size = size;
  }
  return best;
}

// Which blocks are placed first; ties: what begins first. Each suits some programs.
enum class Order : uint8_t {
  Size,      // the largest
  Area,      // the largest product of size and lifetime
  Lifetime,  // the longest-lived
  Start,     // the first to begin
};

bool stands_before(Order order, const Block& a, const Block& b) {
  const auto life = [](const Block& block) { return uint64_t{block.last} - block.first + 1; };
  const auto area = [&](const Block& block) {
    return static_cast<double>(block.size) * static_cast<double>(life(block));
  };
  if (order == Order::Area && area(a) != area(b)) return area(a) > area(b);
  if (order == Order::Lifetime && life(a) != life(b)) return life(a) > life(b);
  if (order == Order::Start && a.first != b.first) return a.first < b.first;
  if (a.size != b.size) return a.size > b.size;
  return a.first < b.first;
}

// Instants at which the lives of blocks begin that are asked for: their own, and without what they share with hosts.
size_t count_starts(std::span<const Block> blocks) {
  size_t count = 2 * blocks.size();
  for (const Block& block : blocks) count += block.gaps.size();
  return count;
}

// Gives all blocks their offsets; the end of the last one.
template <typename Placed>
size_t place_with(std::span<Block> blocks, Order by) {
  std::vector<uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return stands_before(by, blocks[a], blocks[b]); });
  std::vector<uint32_t> starts;
  starts.reserve(count_starts(blocks));
  size_t lives = blocks.size();
  for (const Block& block : blocks) {
    starts.push_back(block.first);
    for (const Life& gap : block.gaps) starts.push_back(gap.last + 1);
    lives += block.gaps.size();
    if (block.host != kNone && block.first < block.last) starts.push_back(block.first + 1);
  }
  Placed placed(std::move(starts), lives);
  std::vector<bool> done(blocks.size());
  size_t total = 0;
  for (const uint32_t id : order) {
    Block& block = blocks[id];
    if (block.size == 0) continue;
    const bool on_host = block.host != kNone && done[block.host] && fits_on_host(block, blocks[block.host], placed);
    block.offset = on_host ? blocks[block.host].offset : best_fit(block, placed);
    if (block.gaps.empty()) {
      placed.insert({block.first, block.last}, block.offset, block.end());
    } else {
      for (const Life& life : lives_of({block.first, block.last}, block.gaps))
        placed.insert(life, block.offset, block.end());
    }
    done[id] = true;
    total = std::max(total, block.end());
  }
  return total;
}

size_t place(std::span<Block> blocks, Order by) {
  size_t sum = 0;
  for (const Block& block : blocks) sum += block.size;
  const bool small = count_starts(blocks) <= INT16_MAX && sum <= UINT32_MAX;
  return small ? place_with<PlacedExtents<int16_t, uint32_t>>(blocks, by)
               : place_with<PlacedExtents<int32_t, uint64_t>>(blocks, by);
}

// The best of several orders; those after the first only where it misses the bound, and for few blocks.
size_t place_well(std::vector<Block>& blocks, size_t lower_bound) {
  constexpr size_t kFew = 2048;
  size_t total = place(blocks, Order::Size);
  if (blocks.size() > kFew) return total;
  for (const Order order : {Order::Area, Order::Lifetime, Order::Start}) {
    if (total == lower_bound) break;
    std::vector<Block> others = blocks;
    const size_t end = place(others, order);
    if (end >= total) continue;
    blocks = std::move(others);
    total = end;
  }
  return total;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Interval> intervals, size_t alignment) {
  MemoryPlan plan;
  if (intervals.size() >= INT32_MAX) fail(ErrorCode::ResourceExhausted, "{} tensors are too many", intervals.size());
  std::vector<size_t> sizes(intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].first > intervals[i].last) fail(ErrorCode::Internal, "interval {} ends before it begins", i);
    check_gaps(intervals[i]);
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
    if (inherits && blocks[host].size == sizes[i] / alignment) {
      block_of[i] = host;
      blocks[host].last = intervals[i].last;
      blocks[host].gaps.insert(blocks[host].gaps.end(), intervals[i].gaps.begin(), intervals[i].gaps.end());
    } else {
      block_of[i] = static_cast<uint32_t>(blocks.size());
      blocks.push_back({sizes[i] / alignment, intervals[i].first, intervals[i].last, host, intervals[i].gaps});
    }
  }

  plan.total = place_well(blocks, plan.lower_bound / alignment) * alignment;
  plan.offsets.resize(intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) plan.offsets[i] = blocks[block_of[i]].offset * alignment;
  return plan;
}

}  // namespace ingot
