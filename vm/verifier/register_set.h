#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "vm/isa/isa.h"

namespace ingot::vm {

// A set of registers that finds its next member in constant time, however few there are.
class RegisterSet {
 public:
  static constexpr uint32_t kEnd = UINT32_MAX;

  explicit RegisterSet(uint32_t registers) : words_(registers / 64 + 1), summary_(words_.size() / 64 + 1) {}

  bool contains(Register reg) const { return (words_[reg / 64] >> (reg % 64) & 1) != 0; }
  size_t size() const { return size_; }
  void insert(Register reg) {
    if (contains(reg)) return;
    ++size_;
    words_[reg / 64] |= uint64_t{1} << (reg % 64);
    summary_[reg / 4096] |= uint64_t{1} << (reg / 64 % 64);
  }
  void erase(Register reg) {
    if (!contains(reg)) return;
    --size_;
    words_[reg / 64] &= ~(uint64_t{1} << (reg % 64));
    if (words_[reg / 64] == 0) summary_[reg / 4096] &= ~(uint64_t{1} << (reg / 64 % 64));
  }

  void clear() {
    for (uint32_t reg = next(0); reg != kEnd; reg = next(reg + 1)) erase(static_cast<Register>(reg));
  }

  // The least member not below `from`, or kEnd.
  uint32_t next(uint32_t from) const {
    const uint32_t word = from / 64;
    if (word >= words_.size()) return kEnd;
    if (const uint64_t rest = words_[word] >> (from % 64); rest != 0)
      return from + static_cast<uint32_t>(std::countr_zero(rest));
    for (uint32_t group = (word + 1) / 64, shift = (word + 1) % 64; group < summary_.size(); ++group, shift = 0)
      if (const uint64_t rest = summary_[group] >> shift << shift; rest != 0) {
        const uint32_t found = group * 64 + static_cast<uint32_t>(std::countr_zero(rest));
        return found * 64 + static_cast<uint32_t>(std::countr_zero(words_[found]));
      }
    return kEnd;
  }

 private:
  std::vector<uint64_t> words_;
  std::vector<uint64_t> summary_;  // bit w: words_[w] is not 0
  size_t size_ = 0;
};

}  // namespace ingot::vm
