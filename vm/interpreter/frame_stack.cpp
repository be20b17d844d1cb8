#include "vm/interpreter/frame_stack.h"

#include <algorithm>

#include <sys/mman.h>

#include "runtime/base/error.h"

namespace ingot::vm {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kLeastLimit = size_t{64} << 10;

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

ReservedMemory::ReservedMemory(size_t bytes) : size_(whole_pages(bytes)) {
  void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail(ErrorCode::OutOfMemory, "cannot reserve {} bytes of address space for frames and registers", size_);
  begin_ = static_cast<std::byte*>(memory);
}

ReservedMemory::~ReservedMemory() { ::munmap(begin_, size_); }

void ReservedMemory::trim(const std::byte* from) noexcept {
  const size_t kept = whole_pages(static_cast<size_t>(from - begin_));
  if (kept < size_) ::madvise(begin_ + kept, size_ - kept, MADV_DONTNEED);
}

FrameStack::FrameStack(size_t limit) { set_limit(limit); }

// A frame is twice the size of a register and most functions have several registers: a quarter for frames.
void FrameStack::set_limit(size_t bytes) {
  if (bytes == limit_) return;
  const size_t limit = std::max(bytes, kLeastLimit);
  const size_t frames = limit / 4 / sizeof(Frame);
  const size_t registers = (limit - frames * sizeof(Frame)) / sizeof(Slot);
  // One frame more than the limit has: a run loop's end mark needs no check of its own.
  if (frames_ == nullptr || frames_->size() < (frames + 1) * sizeof(Frame))
    frames_ = std::make_unique<ReservedMemory>((frames + 1) * sizeof(Frame));
  if (registers_ == nullptr || registers_->size() < (registers + kSlack) * sizeof(Slot))
    registers_ = std::make_unique<ReservedMemory>((registers + kSlack) * sizeof(Slot));
  frames_end_ = frames_begin() + frames;
  registers_end_ = registers_begin() + registers;
  limit_ = bytes;
}

void FrameStack::trim(const Frame* frame, const Slot* registers) noexcept {
  frames_->trim(reinterpret_cast<const std::byte*>(frame));
  registers_->trim(reinterpret_cast<const std::byte*>(registers));
}

}  // namespace ingot::vm
