#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace ingot::jit {

// Machine code in pages of its own: filled while they are writable, executable afterwards, never both. Any number of
// threads may run it while its owner lives.
class CodeMemory {
 public:
  // Copies the code. nullopt where there is none, or where the system gives no executable memory.
  static std::optional<CodeMemory> make(std::span<const std::byte> code) noexcept;
  ~CodeMemory();
  CodeMemory(CodeMemory&& other) noexcept : pages_(std::exchange(other.pages_, nullptr)), bytes_(other.bytes_) {}
  CodeMemory& operator=(CodeMemory&&) = delete;

  template <typename Function>
  Function entry(size_t offset = 0) const {
    return reinterpret_cast<Function>(static_cast<std::byte*>(pages_) + offset);
  }
  size_t bytes() const { return bytes_; }

 private:
  CodeMemory(void* pages, size_t bytes) : pages_(pages), bytes_(bytes) {}

  void* pages_;
  size_t bytes_;  // whole pages
};

}  // namespace ingot::jit
