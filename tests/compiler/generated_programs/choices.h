#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot::generated {

// The decisions behind one program: a list of bytes, read from the front. Behind its end every decision is 0, and 0 is
// everywhere the smallest alternative; so any list gives a program, and a shorter list or smaller bytes a simpler one.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // One of 0, 1, ..., count - 1.
  size_t pick(size_t count) {
    if (at_ >= bytes_.size() || count <= 1) return 0;
    return bytes_[at_++] % count;
  }
  template <typename T>
  const T& of(std::span<const T> items) {
    return items[pick(items.size())];
  }
  // True about `percent` times in a hundred.
  bool chance(size_t percent) { return pick(100) + percent >= 100; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace ingot::generated
