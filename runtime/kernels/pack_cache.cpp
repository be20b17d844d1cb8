#include "runtime/kernels/pack_cache.h"

#include <algorithm>

#include "runtime/object/pool.h"

namespace ingot {

std::shared_ptr<std::byte> allocate_packed(size_t bytes) {
  return {static_cast<std::byte*>(allocate_system(std::max<size_t>(bytes, 1))),
          [](std::byte* memory) { deallocate_system(memory); }};
}

PackCache::Packed PackCache::get(const std::byte* constant, std::string_view signature,
                                 const std::function<Packed()>& make) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    auto& slot = entries_[{constant, std::string(signature)}];
    if (!slot) slot = std::make_shared<Entry>();
    entry = slot;
  }
  const std::lock_guard making(entry->making);
  if (!entry->packed.data) {
    entry->packed = make();
    const std::lock_guard lock(mutex_);
    bytes_ += entry->packed.bytes;
  }
  return entry->packed;
}

size_t PackCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace ingot
