#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace ingot::vm {

// An array of a size that is known when it is made, not initialised; up to N elements take no memory from the heap.
template <typename T, size_t N>
class SmallArray {
 public:
  explicit SmallArray(size_t size) : size_(size) {
    if (size > N) heap_ = std::make_unique_for_overwrite<T[]>(size);
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;

  T* data() { return heap_ ? heap_.get() : inline_.data(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data()[i]; }
  operator std::span<T>() { return {data(), size_}; }        // NOLINT: it is one
  operator std::span<const T>() { return {data(), size_}; }  // NOLINT

 private:
  size_t size_;
  std::array<T, N> inline_;
  std::unique_ptr<T[]> heap_;
};

}  // namespace ingot::vm
