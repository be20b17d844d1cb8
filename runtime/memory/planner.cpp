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

struct Extent {
  size_t begin;
  size_t end;
};

// Blocks that have their place, found by when they live. Short-lived ones have few neighbours: those are looked up by
// slices of time and sorted by offset. Long-lived ones have many: those come from arrays that are kept in that order.
class Placed {
 public:
  explicit Placed(std::span<const Block> blocks) : found_(blocks.size()) {
    uint32_t end = 0;
    begin_ = UINT32_MAX;
    for (const Block& block : blocks) {
      begin_ = std::min(begin_, block.first);
      end = std::max(end, block.last);
    }
    const uint64_t instants = blocks.empty() ? 1 : uint64_t{end} - begin_ + 1;
    const uint64_t most = std::clamp<uint64_t>(blocks.size() / 16, 1, kMostSlices);
    while ((instants >> shift_) > most) ++shift_;
    slices_.resize((instants >> shift_) + 1);
    lives_.reserve(blocks.size());
    extents_.reserve(blocks.size());
  }

  // What blocks alive at some instant from `first` to `last` take, by offset.
  std::span<const Extent> meeting(uint32_t first, uint32_t last) {
    const size_t front = slice_of(first);
    const size_t back = slice_of(last);
    size_t candidates = slices_[front].touching.size();
    for (size_t s = front + 1; s <= back; ++s) candidates += slices_[s].starting.size();
    const bool few = candidates * 24 < lives_.size();
    const size_t met = few ? collect_by_slice(first, last) : collect_all(first, last);
    if (few) {
      std::sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(met),
                [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    }
    return {found_.data(), met};
  }

  void insert(const Block& block) {
    const size_t front = slice_of(block.first);
    const Entry entry{block.first, block.last, {block.offset, block.end()}};
    slices_[front].starting.push_back(entry);
    for (size_t s = front, back = slice_of(block.last); s <= back; ++s) slices_[s].touching.push_back(entry);
    const auto place = std::upper_bound(extents_.begin(), extents_.end(), block.offset,
                                        [](size_t offset, const Extent& other) { return offset < other.begin; });
    lives_.insert(lives_.begin() + (place - extents_.begin()), {block.first, block.last});
    extents_.insert(place, entry.extent);
  }

 private:
  static constexpr uint64_t kMostSlices = 256;

  struct Entry {
    uint32_t first;
    uint32_t last;
    Extent extent;
  };
  struct Slice {
    std::vector<Entry> touching;  // alive at some instant of the slice
    std::vector<Entry> starting;  // those of them that begin in it
  };
  struct Life {
    uint32_t first;
    uint32_t last;
  };

  size_t slice_of(uint32_t instant) const { return uint64_t{instant - begin_} >> shift_; }

  size_t collect_by_slice(uint32_t first, uint32_t last) {
    Extent* met = found_.data();
    const auto collect = [&](const std::vector<Entry>& entries) {
      for (const Entry& entry : entries) {
        *met = entry.extent;
        met += static_cast<size_t>(entry.first <= last) & static_cast<size_t>(entry.last >= first);
      }
    };
    const size_t front = slice_of(first);
    collect(slices_[front].touching);
    for (size_t s = front + 1, back = slice_of(last); s <= back; ++s) collect(slices_[s].starting);
    return static_cast<size_t>(met - found_.data());
  }

  size_t collect_all(uint32_t first, uint32_t last) {
    Extent* met = found_.data();
    const Life* lives = lives_.data();
    const Extent* extents = extents_.data();
    for (size_t i = 0, size = lives_.size(); i < size; ++i) {
      *met = extents[i];
      met += static_cast<size_t>(lives[i].first <= last) & static_cast<size_t>(lives[i].last >= first);
    }
    return static_cast<size_t>(met - found_.data());
  }

  uint32_t begin_ = 0;
  unsigned shift_ = 0;
  std::vector<Slice> slices_;
  std::vector<Life> lives_;      // by offset
  std::vector<Extent> extents_;  // of the same
  std::vector<Extent> found_;
};

// True where `block` may begin where its host begins. At its first instant only the host, whose last it is, lies there.
bool fits_on_host(const Block& block, const Block& host, Placed& placed) {
  if (block.first == block.last) return true;
  for (const Extent& other : placed.meeting(block.first + 1, block.last))
    if (other.begin < host.offset + block.bytes && other.end > host.offset) return false;
  return true;
}

// The start of the smallest gap that holds `bytes`; the end of all extents where there is none.
size_t best_fit(size_t bytes, std::span<const Extent> met) {
  size_t best = SIZE_MAX;
  size_t best_gap = SIZE_MAX;
  size_t end = 0;
  for (const Extent& other : met) {
    if (other.begin >= end + bytes && other.begin - end < best_gap) {
      best = end;
      best_gap = other.begin - end;
      if (best_gap == bytes) break;
    }
    end = std::max(end, other.end);
  }
  return best != SIZE_MAX ? best : end;
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
    return static_cast<double>(block.bytes) * static_cast<double>(life(block));
  };
  if (order == Order::Area && area(a) != area(b)) return area(a) > area(b);
  if (order == Order::Lifetime && life(a) != life(b)) return life(a) > life(b);
  if (order == Order::Start && a.first != b.first) return a.first < b.first;
  if (a.bytes != b.bytes) return a.bytes > b.bytes;
  return a.first < b.first;
}

// Gives all blocks their offsets; the end of the last one.
size_t place(std::span<Block> blocks, Order by) {
  std::vector<uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return stands_before(by, blocks[a], blocks[b]); });
  Placed placed(blocks);
  std::vector<bool> done(blocks.size());
  size_t total = 0;
  for (const uint32_t id : order) {
    Block& block = blocks[id];
    if (block.bytes == 0) continue;
    const bool on_host = block.host != kNone && done[block.host] && fits_on_host(block, blocks[block.host], placed);
    block.offset = on_host ? blocks[block.host].offset : best_fit(block.bytes, placed.meeting(block.first, block.last));
    placed.insert(block);
    done[id] = true;
    total = std::max(total, block.end());
  }
  return total;
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

  plan.total = place_well(blocks, plan.lower_bound);
  plan.offsets.resize(intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) plan.offsets[i] = blocks[block_of[i]].offset;
  return plan;
}

}  // namespace ingot
