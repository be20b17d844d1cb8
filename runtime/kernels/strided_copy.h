#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

// Copies elements between two strided views of the same dimensions that do not overlap: prepared once for dimensions
// and strides, run for addresses. Dimensions are merged where both sides allow, and whole runs of bytes are copied
// where they can be.
class StridedCopy {
 public:
  // Strides in elements. Dimensions and strides of operands that exist, so that nothing overflows.
  StridedCopy(size_t element_bytes, std::span<const int64_t> dims, std::span<const int64_t> from_strides,
              std::span<const int64_t> to_strides);

  // The addresses of the first elements.
  void run(const std::byte* from, std::byte* to) const noexcept;

 private:
  struct Loop {
    int64_t count;
    std::ptrdiff_t from_step, to_step;  // in bytes
  };
  void run_loops(size_t depth, const std::byte* from, std::byte* to) const noexcept;

  std::vector<Loop> loops_;  // outermost first
  size_t run_bytes_;         // copied at once inside of all loops
  bool empty_ = false;
};

}  // namespace ingot
