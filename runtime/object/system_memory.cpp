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

// Address translation costs as much as memory itself where a core walks through many small pages. Only advice: a system
// that cannot follow it changes nothing.
void advise_huge_pages(void* memory, size_t bytes) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (begin + bytes) / kHugePage * kHugePage;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace

void* allocate_system(size_t bytes) {
  void* memory = bytes <= kMostBytes ? ::operator new (bytes, std::align_val_t{64}, std::nothrow) : nullptr;
  if (memory == nullptr) fail(ErrorCode::OutOfMemory, "the system has no block of {} bytes left", bytes);
  if (bytes >= 2 * kHugePage) advise_huge_pages(memory, bytes);
  return memory;
}

void deallocate_system(void* memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }

}  // namespace ingot
