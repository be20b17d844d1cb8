#include "runtime/memory/memory_account.h"

#include "runtime/base/error.h"

namespace ingot {

bool MemoryAccount::has_room(size_t bytes) const {
  size_t left = limit_;
  for (const size_t part : {statistics_.in_use, statistics_.kept, bytes}) {
    if (part > left) return false;
    left -= part;
  }
  return true;
}

void MemoryAccount::refuse(size_t bytes) const {
  fail(ErrorCode::ResourceExhausted, "the memory limit is {} bytes: {} are in use and {} more are wanted", limit_,
       statistics_.in_use, bytes);
}

}  // namespace ingot
