#include "runtime/kernels/strided_copy.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

template <size_t Bytes>
void copy_elements(int64_t count, const std::byte* from, std::ptrdiff_t from_step, std::byte* to,
                   std::ptrdiff_t to_step) noexcept {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, Bytes);
}

}  // namespace

StridedCopy::StridedCopy(size_t element_bytes, std::span<const int64_t> dims, std::span<const int64_t> from_strides,
                         std::span<const int64_t> to_strides)
    : run_bytes_(element_bytes) {
  const auto bytes = static_cast<std::ptrdiff_t>(element_bytes);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0) empty_ = true;
    if (dims[d] != 1) loops_.push_back({dims[d], from_strides[d] * bytes, to_strides[d] * bytes});
  }
  if (empty_) loops_.clear();
  std::stable_sort(loops_.begin(), loops_.end(), [](const Loop& a, const Loop& b) { return a.to_step > b.to_step; });
  for (size_t d = loops_.size(); d-- > 1;) {
    const Loop& inner = loops_[d];
    Loop& outer = loops_[d - 1];
    if (outer.from_step != inner.from_step * inner.count || outer.to_step != inner.to_step * inner.count) continue;
    outer = {outer.count * inner.count, inner.from_step, inner.to_step};
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(d));
  }
  if (!loops_.empty() && loops_.back().from_step == bytes && loops_.back().to_step == bytes) {
    run_bytes_ *= static_cast<size_t>(loops_.back().count);
    loops_.pop_back();
  }
}

void StridedCopy::run(const std::byte* from, std::byte* to) const noexcept {
  if (!empty_) run_loops(0, from, to);
}

void StridedCopy::run_loops(size_t depth, const std::byte* from, std::byte* to) const noexcept {
  if (depth == loops_.size()) {
    std::memcpy(to, from, run_bytes_);
    return;
  }
  const auto& [count, from_step, to_step] = loops_[depth];
  if (depth + 1 == loops_.size()) {
    switch (run_bytes_) {
      case 1:
        return copy_elements<1>(count, from, from_step, to, to_step);
      case 2:
        return copy_elements<2>(count, from, from_step, to, to_step);
      case 4:
        return copy_elements<4>(count, from, from_step, to, to_step);
      case 8:
        return copy_elements<8>(count, from, from_step, to, to_step);
      default:
        break;
    }
  }
  for (int64_t i = 0; i < count; ++i) run_loops(depth + 1, from + i * from_step, to + i * to_step);
}

}  // namespace ingot
