#include "runtime/memory/arena.h"

#include <algorithm>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/memory/poison.h"
#include "runtime/object/pool.h"

namespace ingot {
namespace {

constexpr size_t kAlignment = 64;
// Chunks grow with the arena between these two, so that small sessions stay small and deep recursion asks seldom.
constexpr size_t kLeastChunk = size_t{1} << 16;
constexpr size_t kGrownChunk = size_t{1} << 24;

}  // namespace

Arena::~Arena() {
  pop({});
  trim();
}

std::byte* Arena::push(size_t bytes) {
  const auto aligned = checked_align_up(bytes, kAlignment);
  if (!aligned) fail(ErrorCode::OutOfMemory, "an arena segment of {} bytes is wanted", bytes);
  account_->charge(*aligned);
  if (top_.chunk >= chunks_.size() || *aligned > chunks_[top_.chunk].size - top_.offset) {
    try {
      make_room(*aligned);
    } catch (...) {
      account_->credit(*aligned);
      throw;
    }
  }
  Chunk& chunk = chunks_[top_.chunk];
  std::byte* segment = chunk.memory + top_.offset;
  unpoison_memory(segment, *aligned);
  top_.offset += *aligned;
  chunk.used = top_.offset;
  account_->statistics().kept -= *aligned;
  return segment;
}

// Makes `top_` the start of an empty chunk that holds `bytes`.
void Arena::make_room(size_t bytes) {
  const size_t next = top_.offset == 0 ? top_.chunk : top_.chunk + 1;
  while (next < chunks_.size() && chunks_[next].size < bytes) drop_chunk(next);
  if (next >= chunks_.size()) {
    size_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.size;
    const size_t grown = std::max(bytes, std::clamp(total, kLeastChunk, kGrownChunk));
    // `bytes` are charged already.
    const size_t size = account_->has_room(grown - bytes) ? grown : bytes;
    chunks_.reserve(chunks_.size() + 1);
    auto* memory = static_cast<std::byte*>(allocate_system(size));
    poison_memory(memory, size);
    chunks_.push_back({memory, size, 0});
    account_->statistics().kept += size;
    ++account_->statistics().system_allocations;
  }
  top_ = {next, 0};
}

void Arena::pop(Mark mark) noexcept {
  const size_t end = std::min(top_.chunk + 1, chunks_.size());
  for (size_t i = mark.chunk; i < end; ++i) {
    Chunk& chunk = chunks_[i];
    const size_t keep = i == mark.chunk ? mark.offset : 0;
    if (keep == chunk.used) continue;
    poison_memory(chunk.memory + keep, chunk.used - keep);
    account_->credit(chunk.used - keep);
    account_->statistics().kept += chunk.used - keep;
    chunk.used = keep;
  }
  top_ = mark;
}

void Arena::drop_chunk(size_t index) noexcept {
  const Chunk chunk = chunks_[index];
  unpoison_memory(chunk.memory, chunk.size);
  deallocate_system(chunk.memory);
  account_->statistics().kept -= chunk.size;
  chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Arena::trim() noexcept {
  const size_t first_idle = top_.offset == 0 ? top_.chunk : top_.chunk + 1;
  while (chunks_.size() > first_idle) drop_chunk(chunks_.size() - 1);
}

}  // namespace ingot
