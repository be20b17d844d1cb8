#include <new>

#include "runtime/base/error.h"
#include "runtime/object/pool.h"

namespace ingot {

void* allocate_system(size_t bytes) {
  void* memory = ::operator new (bytes, std::align_val_t{64}, std::nothrow);
  if (memory == nullptr) fail(ErrorCode::OutOfMemory, "the system has no block of {} bytes left", bytes);
  return memory;
}

void deallocate_system(void* memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }

}  // namespace ingot
