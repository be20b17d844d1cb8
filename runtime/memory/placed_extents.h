#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "runtime/memory/planner.h"

namespace ingot {

// Extents that have their place, found by when they live and visited by where they begin.
//
// Short lives meet few others: those are looked up by slices of time and sorted. Long ones meet many: all extents lie
// in chunks in order of their places, and a register's worth of them is held against a life at once. Instants are
// compared by rank among the instants at which lives begin; `Rank` is a signed type that holds their number,
// `Place` an unsigned one that holds all places.
template <typename Rank, typename Place>
class PlacedExtents {
 public:
  struct Extent {
    Place begin;
    Place end;
  };

  // `starts`: the first instants of all lives that will be inserted or asked for. At most `count` are inserted.
  PlacedExtents(std::vector<uint32_t> starts, size_t count)
      : starts_(std::move(starts)), found_(count), gaps_(count + 1) {
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    per_slice_ = starts_.size() / std::clamp<size_t>(count / 16, 1, kMostSlices) + 1;
    slices_.resize(starts_.size() / per_slice_ + 1);
  }

  // What is free for all of `life`: gaps of at least `size` between the extents that live at some instant of it, in
  // order, and everything from `end` on. Valid until the next call.
  struct Free {
    std::span<const Extent> gaps;
    size_t end;
  };
  Free free_during(Life life, size_t size) {
    const Ranks ranks = ranks_of(life);
    const size_t front = slice_of(ranks.first);
    const size_t back = slice_of(ranks.last);
    size_t candidates = slices_[front].touching.size();
    for (size_t s = front + 1; s <= back; ++s) candidates += slices_[s].starting.size();
    const GapWriter writer(gaps_.data(), size);
    return candidates * kSortingCost < size_ ? free_of_slices(writer, ranks, front, back) : free_of_all(writer, ranks);
  }

  // The same for several lives.
  Free free_during(std::span<const Life> lives, size_t size) {
    if (lives.size() == 1) return free_during(lives[0], size);
    GapWriter writer(gaps_.data(), size);
    std::vector<Ranks> ranks;
    for (const Life& life : lives) ranks.push_back(ranks_of(life));
    for (const auto& chunk : chunks_)
      for (size_t i = 0; i < chunk->size; ++i)
        if (std::ranges::any_of(ranks, [&](Ranks r) { return r.meets({chunk->firsts[i], chunk->lasts[i]}); }))
          writer.add(chunk->extents[i]);
    return writer.finish();
  }

  // True where nothing that lives at some instant of `life` lies between two places.
  bool is_free(Life life, size_t begin, size_t end) const {
    const Ranks ranks = ranks_of(life);
    for (const auto& chunk : chunks_) {
      if (chunk->extents[0].begin >= end) break;
      if (chunk->end <= begin) continue;
      for (size_t i = 0; i < chunk->size; ++i) {
        const bool meets = chunk->firsts[i] <= ranks.last && chunk->lasts[i] >= ranks.first;
        if (meets && chunk->extents[i].begin < end && chunk->extents[i].end > begin) return false;
      }
    }
    return true;
  }

  void insert(Life life, size_t begin, size_t end) {
    const Extent extent{static_cast<Place>(begin), static_cast<Place>(end)};
    const Ranks ranks = ranks_of(life);
    const size_t front = slice_of(ranks.first);
    slices_[front].starting.push_back({ranks, extent});
    for (size_t s = front, back = slice_of(ranks.last); s <= back; ++s) slices_[s].touching.push_back({ranks, extent});
    insert_by_place(ranks, extent);
    ++size_;
  }

 private:
  static constexpr size_t kMostSlices = 256;
  static constexpr size_t kSortingCost = 24;  // per extent, where comparing the ranks of one costs 1
  static constexpr size_t kChunk = 256;

  struct Ranks {
    Rank first;
    Rank last;
    bool meets(Ranks other) const { return (first <= other.last) & (other.first <= last); }
  };
  struct Entry {
    Ranks ranks;
    Extent extent;
  };
  struct Slice {
    std::vector<Entry> touching;  // alive at some instant of the slice
    std::vector<Entry> starting;  // those of them that begin in it
  };
  // Extents in order of their beginnings; behind `size` nothing lives.
  struct Chunk {
    size_t size = 0;
    Place end = 0;  // the greatest
    std::array<Rank, kChunk> firsts;
    std::array<Rank, kChunk> lasts;
    std::array<Extent, kChunk> extents;

    Chunk() {
      firsts.fill(0);
      lasts.fill(-1);
    }
  };

  // A life begins with a start and meets whatever begins up to the last start that it sees.
  Ranks ranks_of(Life life) const {
    const auto begin = starts_.begin();
    return {static_cast<Rank>(std::lower_bound(begin, starts_.end(), life.first) - begin),
            static_cast<Rank>(std::upper_bound(begin, starts_.end(), life.last) - begin - 1)};
  }

  size_t slice_of(Rank rank) const { return static_cast<size_t>(rank) / per_slice_; }

  // Notes the gap, where it is large enough, in front of each extent that is added in order of their beginnings.
  // Without branches that depend on places, which nobody could predict.
  class GapWriter {
   public:
    GapWriter(Extent* gaps, size_t least) : begin_(gaps), next_(gaps), least_(static_cast<Place>(least)) {}
    void add(const Extent& extent) {
      const Place begin = extent.begin;
      const Place end = extent.end;
      next_->begin = end_;
      next_->end = begin;
      next_ += static_cast<size_t>(begin >= end_ + least_);
      end_ = end > end_ ? end : end_;
    }
    Free finish() const { return {{begin_, next_}, end_}; }

   private:
    Extent* begin_;
    Extent* next_;
    Place least_;
    Place end_ = 0;
  };

  Free free_of_slices(GapWriter writer, Ranks ranks, size_t front, size_t back) {
    Extent* met = found_.data();
    const auto collect = [&](const std::vector<Entry>& entries) {
      for (const Entry& entry : entries) {
        *met = entry.extent;
        met += static_cast<size_t>(entry.ranks.meets(ranks));
      }
    };
    collect(slices_[front].touching);
    for (size_t s = front + 1; s <= back; ++s) collect(slices_[s].starting);
    std::sort(found_.data(), met, [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    for (const Extent* extent = found_.data(); extent != met; ++extent) writer.add(*extent);
    return writer.finish();
  }

  Free free_of_all(GapWriter writer, Ranks ranks) {
    std::array<uint8_t, kChunk> meets;
    for (const auto& chunk : chunks_) {
      for (size_t i = 0; i < kChunk; ++i)
        meets[i] = static_cast<uint8_t>(int{chunk->firsts[i] <= ranks.last} & int{chunk->lasts[i] >= ranks.first});
      for (size_t i = 0; i < kChunk; i += 64)
        for (uint64_t bits = bits_of(&meets[i]); bits != 0; bits &= bits - 1)
          writer.add(chunk->extents[i + static_cast<size_t>(std::countr_zero(bits))]);
    }
    return writer.finish();
  }

  // Bit i is byte i of 64, each 0 or 1.
  static uint64_t bits_of(const uint8_t* bytes) {
    const auto eight = [&](size_t i) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + 8 * i, sizeof word);
      return ((word * 0x0102040810204080u) >> 56) << (8 * i);
    };
    return eight(0) | eight(1) | eight(2) | eight(3) | eight(4) | eight(5) | eight(6) | eight(7);
  }

  void insert_by_place(Ranks ranks, Extent extent) {
    if (chunks_.empty()) chunks_.push_back(std::make_unique<Chunk>());
    auto at = std::upper_bound(chunks_.begin() + 1, chunks_.end(), extent.begin,
                               [](Place begin, const auto& chunk) { return begin < chunk->extents[0].begin; });
    --at;
    if ((*at)->size == kChunk) {
      at = split(at);
      if ((*at)->extents[0].begin > extent.begin) --at;
    }
    Chunk& chunk = **at;
    const auto place =
        std::upper_bound(chunk.extents.begin(), chunk.extents.begin() + static_cast<std::ptrdiff_t>(chunk.size),
                         extent.begin, [](Place begin, const Extent& other) { return begin < other.begin; }) -
        chunk.extents.begin();
    const auto put = [&](auto& array, auto value) {
      std::copy_backward(array.begin() + place, array.begin() + static_cast<std::ptrdiff_t>(chunk.size),
                         array.begin() + static_cast<std::ptrdiff_t>(chunk.size) + 1);
      array[static_cast<size_t>(place)] = value;
    };
    put(chunk.firsts, ranks.first);
    put(chunk.lasts, ranks.last);
    put(chunk.extents, extent);
    ++chunk.size;
    chunk.end = std::max(chunk.end, extent.end);
  }

  using Chunks = std::vector<std::unique_ptr<Chunk>>;

  // Moves the upper half of a full chunk to a new one behind it, which is returned.
  typename Chunks::iterator split(typename Chunks::iterator at) {
    Chunk& full = **at;
    auto upper = std::make_unique<Chunk>();
    const auto move = [](auto& from, auto& to) { std::copy(from.begin() + kChunk / 2, from.end(), to.begin()); };
    move(full.firsts, upper->firsts);
    move(full.lasts, upper->lasts);
    move(full.extents, upper->extents);
    std::fill(full.lasts.begin() + kChunk / 2, full.lasts.end(), Rank{-1});
    full.size = kChunk / 2;
    upper->size = kChunk / 2;
    for (Chunk* half : {&full, upper.get()}) {
      half->end = 0;
      for (size_t i = 0; i < half->size; ++i) half->end = std::max(half->end, half->extents[i].end);
    }
    return chunks_.insert(at + 1, std::move(upper));
  }

  std::vector<uint32_t> starts_;  // without doubles
  size_t per_slice_ = 1;
  std::vector<Slice> slices_;
  Chunks chunks_;
  size_t size_ = 0;
  std::vector<Extent> found_;
  std::vector<Extent> gaps_;
};

}  // namespace ingot
