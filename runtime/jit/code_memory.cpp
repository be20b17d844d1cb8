#include "runtime/jit/code_memory.h"

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace ingot::jit {

std::optional<CodeMemory> CodeMemory::make(std::span<const std::byte> code) noexcept {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = (code.size() + page - 1) / page * page;
  if (bytes == 0) return std::nullopt;
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return std::nullopt;
  CodeMemory memory(pages, bytes);
  std::memcpy(pages, code.data(), code.size());
  if (mprotect(pages, bytes, PROT_READ | PROT_EXEC) != 0) return std::nullopt;
  return memory;
}

CodeMemory::~CodeMemory() {
  if (pages_ != nullptr) munmap(pages_, bytes_);
}

}  // namespace ingot::jit
