#include "runtime/memory/memory_pool.h"

#include <bit>
#include <new>

#include "runtime/base/error.h"
#include "runtime/memory/poison.h"

namespace ingot {
namespace {

constexpr size_t kUnit = 64;
constexpr size_t kLinear = 8;  // classes 0..7 are 64, 128, ... 512; then come eight per doubling
constexpr size_t kLinearBytes = kUnit * kLinear;

}  // namespace

size_t MemoryPool::class_of(size_t bytes) {
  if (bytes <= kUnit) return 0;
  if (bytes <= kLinearBytes) return (bytes - 1) / kUnit;
  const auto octave = static_cast<size_t>(std::bit_width((bytes - 1) / kLinearBytes)) - 1;
  const size_t step = kUnit << octave;
  return kLinear * (octave + 1) + (bytes - 1 - (kLinearBytes << octave)) / step;
}

size_t MemoryPool::class_bytes(size_t size_class) {
  if (size_class < kLinear) return kUnit * (size_class + 1);
  const size_t octave = size_class / kLinear - 1;
  return (kLinearBytes << octave) + (kUnit << octave) * (size_class % kLinear + 1);
}

MemoryPool::~MemoryPool() { trim(); }

ObjectPool::Block MemoryPool::allocate(size_t bytes) {
  if (bytes > class_bytes(kClasses - 1))
    fail(ErrorCode::OutOfMemory, "a block of {} bytes is wanted, but {} are the most", bytes,
         class_bytes(kClasses - 1));
  const size_t size_class = class_of(bytes);
  const size_t size = class_bytes(size_class);
  account_->charge(size);
  void* memory = free_[size_class];
  if (memory != nullptr) {
    unpoison_memory(memory, size);
    free_[size_class] = free_[size_class]->next;
    account_->statistics().kept -= size;
  } else {
    memory = from_system(size);
  }
  return {memory, static_cast<uint16_t>(size_class)};
}

void* MemoryPool::from_system(size_t bytes) {
  // `bytes` are charged already.
  if (!account_->has_room(0)) trim();
  try {
    void* memory = nullptr;
    try {
      memory = allocate_system(bytes, BlockStart::HalfPage);
    } catch (const Error&) {
      trim();
      memory = allocate_system(bytes, BlockStart::HalfPage);
    }
    ++account_->statistics().system_allocations;
    return memory;
  } catch (...) {
    account_->credit(bytes);
    throw;
  }
}

void MemoryPool::deallocate(void* memory, uint16_t size_class) noexcept {
  adopt(memory, size_class);
  account_->credit(class_bytes(size_class));
}

void MemoryPool::adopt(void* memory, uint16_t size_class) noexcept {
  const size_t size = class_bytes(size_class);
  free_[size_class] = ::new (memory) FreeBlock{free_[size_class]};
  poison_memory(memory, size);
  account_->statistics().kept += size;
}

void MemoryPool::disown(void*, uint16_t size_class) noexcept { account_->credit(class_bytes(size_class)); }

void MemoryPool::trim() noexcept {
  for (size_t i = 0; i < kClasses; ++i) {
    const size_t size = class_bytes(i);
    while (free_[i] != nullptr) {
      FreeBlock* block = free_[i];
      unpoison_memory(block, size);
      free_[i] = block->next;
      deallocate_system(block);
      account_->statistics().kept -= size;
    }
  }
}

}  // namespace ingot
