#pragma once
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "tests/replaced_new.h"

// Counts the requests for memory of the program that has one source including this.
namespace ingot::test {

std::atomic<size_t> allocations = 0;

// Not inlined, so that no compiler sees new and free side by side.
[[gnu::noinline]] void* request(size_t bytes, size_t alignment) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::aligned_alloc(alignment, (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
}

[[gnu::noinline]] void give_back(void* memory) noexcept { std::free(memory); }

}  // namespace ingot::test
