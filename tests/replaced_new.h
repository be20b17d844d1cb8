#pragma once
#include <cstddef>
#include <new>

// Takes the place of operator new and delete, in all their forms, in the program that has one source including this.
namespace ingot::test {

// That source defines both. Null says that there is no memory.
void* request(size_t bytes, size_t alignment) noexcept;
void give_back(void* memory) noexcept;

inline constexpr size_t kUsualAlignment = alignof(std::max_align_t);

inline void* request_or_throw(size_t bytes, size_t alignment) {
  if (void* memory = request(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace ingot::test

// NOLINTBEGIN: what the language prescribes
void* operator new(size_t bytes) { return ingot::test::request_or_throw(bytes, ingot::test::kUsualAlignment); }
void* operator new[](size_t bytes) { return ingot::test::request_or_throw(bytes, ingot::test::kUsualAlignment); }
void* operator new(size_t bytes, std::align_val_t a) {
  return ingot::test::request_or_throw(bytes, static_cast<size_t>(a));
}
void* operator new[](size_t bytes, std::align_val_t a) {
  return ingot::test::request_or_throw(bytes, static_cast<size_t>(a));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return ingot::test::request(bytes, ingot::test::kUsualAlignment);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return ingot::test::request(bytes, ingot::test::kUsualAlignment);
}
void* operator new(size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
  return ingot::test::request(bytes, static_cast<size_t>(a));
}
void operator delete(void* memory) noexcept { ingot::test::give_back(memory); }
void operator delete[](void* memory) noexcept { ingot::test::give_back(memory); }
void operator delete(void* memory, size_t) noexcept { ingot::test::give_back(memory); }
void operator delete[](void* memory, size_t) noexcept { ingot::test::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { ingot::test::give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { ingot::test::give_back(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { ingot::test::give_back(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { ingot::test::give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { ingot::test::give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { ingot::test::give_back(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { ingot::test::give_back(memory); }
// NOLINTEND
