#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define INGOT_POISONS_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INGOT_POISONS_MEMORY 1
#endif
#endif
#ifdef INGOT_POISONS_MEMORY
extern "C" {
void __asan_poison_memory_region(void const volatile* memory, size_t bytes);
void __asan_unpoison_memory_region(void const volatile* memory, size_t bytes);
}
#endif

namespace ingot {

// Lets AddressSanitizer report uses of memory that a pool or an arena keeps but nobody owns. Does nothing elsewhere.
inline void poison_memory([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) {
#ifdef INGOT_POISONS_MEMORY
  __asan_poison_memory_region(memory, bytes);
#endif
}

inline void unpoison_memory([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) {
#ifdef INGOT_POISONS_MEMORY
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace ingot
