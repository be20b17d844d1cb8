#include <cstddef>
#include <cstdint>
#include <new>

#include <sys/mman.h>

#include "runtime/base/error.h"
#include "runtime/object/pool.h"

namespace ingot {
namespace {

// What no block of a real program reaches; AddressSanitizer ends the process at twice that.
constexpr size_t kMostBytes = size_t{1} << 39;
constexpr uintptr_t kHugePage = uintptr_t{1} << 21;
// Blocks from the first size on and below the second begin where a page or its second half does, and no others do, so
// that the address tells the alignment. Larger ones gain nothing.
constexpr size_t kLargeBlock = size_t{1} << 16, kHugeBlock = 2 * kHugePage;
constexpr size_t kPageBytes = 4096, kHalfPage = kPageBytes / 2;
constexpr std::align_val_t kPage{kPageBytes}, kLine{64};

bool starts_half_page(const void* memory) { return reinterpret_cast<uintptr_t>(memory) % kHalfPage == 0; }

std::byte* allocate_pages(size_t bytes) noexcept {
  return static_cast<std::byte*>(::operator new(bytes, kPage, std::nothrow));
}

void* allocate_aligned(size_t bytes, BlockStart start) noexcept {
  if (bytes >= kLargeBlock && bytes < kHugeBlock) {
    const size_t shift = start == BlockStart::HalfPage ? kHalfPage : 0;
    std::byte* pages = allocate_pages(bytes + shift);
    return pages == nullptr ? nullptr : pages + shift;
  }
  void* memory = ::operator new(bytes, kLine, std::nothrow);
  if (memory == nullptr || !starts_half_page(memory)) return memory;
  ::operator delete(memory, kLine);
  return allocate_pages(bytes);
}

// Address translation costs as much as memory itself where a core walks through many small pages. Only advice: a system
// that cannot follow it changes nothing.
void advise_huge_pages(void* memory, size_t bytes) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (begin + bytes) / kHugePage * kHugePage;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace

void* allocate_system(size_t bytes, BlockStart start) {
  void* memory = bytes <= kMostBytes ? allocate_aligned(bytes, start) : nullptr;
  if (memory == nullptr) fail(ErrorCode::OutOfMemory, "the system has no block of {} bytes left", bytes);
  if (bytes >= kHugeBlock) advise_huge_pages(memory, bytes);
  return memory;
}

void deallocate_system(void* memory) noexcept {
  if (!starts_half_page(memory)) return ::operator delete(memory, kLine);
  const size_t shift = reinterpret_cast<uintptr_t>(memory) % kPageBytes;
  ::operator delete(static_cast<std::byte*>(memory) - shift, kPage);
}

}  // namespace ingot
