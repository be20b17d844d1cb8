#include "vm/loader/func_memo.h"

#include <algorithm>
#include <mutex>

namespace ingot::vm {

std::optional<bool> FuncMemo::find(std::span<const int64_t> key) const {
  if (key.size() == 1) {
    const uint64_t last = last_.load(std::memory_order_relaxed);
    return last / 2 == static_cast<uint64_t>(key[0]) ? std::optional(last % 2 == 1) : std::nullopt;
  }
  const std::shared_lock lock(mutex_);
  for (const Entry& entry : entries_)
    if (entry.count != 0 && std::ranges::equal(key, std::span(entry.numbers).first(entry.count))) return entry.matches;
  return std::nullopt;
}

void FuncMemo::keep(std::span<const int64_t> key, bool matches) {
  if (key.size() == 1) {
    last_.store(static_cast<uint64_t>(key[0]) * 2 + (matches ? 1 : 0), std::memory_order_relaxed);
  } else if (key.size() <= kMaxNumbers) {
    const std::unique_lock lock(mutex_);
    Entry& entry = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    std::ranges::copy(key, entry.numbers.begin());
    entry.count = key.size();
    entry.matches = matches;
  }
}

}  // namespace ingot::vm
