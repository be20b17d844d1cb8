#include <new>

#include "runtime/base/error.h"
#include "runtime/object/pool.h"

namespace ingot {
namespace {

// What no block of a real program reaches; AddressSanitizer ends the process at twice that.
constexpr size_t kMostBytes = size_t{1} << 39;

}  // namespace

void* allocate_system(size_t bytes) {
  void* memory = bytes <= kMostBytes ? ::operator new (bytes, std::align_val_t{64}, std::nothrow) : nullptr;
  if (memory == nullptr) fail(ErrorCode::OutOfMemory, "the system has no block of {} bytes left", bytes);
  return memory;
}

void deallocate_system(void* memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }

}  // namespace ingot
