#include "compiler/codegen/registers.h"

#include <algorithm>
#include <limits>

#include "runtime/base/error.h"

namespace ingot::codegen {

vm::Register Registers::take() {
  while (lowest_free_ < used_.size() && used_[lowest_free_]) ++lowest_free_;
  const auto index = static_cast<vm::Register>(lowest_free_);
  reserve(lowest_free_ + 1);
  claim(index);
  return index;
}

void Registers::claim(vm::Register index) {
  reserve(size_t{index} + 1);
  if (used_[index]) fail(ErrorCode::Internal, "code generation: register {} is taken twice", index);
  used_[index] = true;
  top_ = std::max(top_, size_t{index} + 1);
}

void Registers::release(vm::Register index) {
  used_[index] = false;
  lowest_free_ = std::min(lowest_free_, size_t{index});
  while (top_ > 0 && !used_[top_ - 1]) --top_;
}

vm::Register Registers::top() const { return static_cast<vm::Register>(top_); }

void Registers::reserve(size_t end) {
  if (end > std::numeric_limits<vm::Register>::max())
    fail(ErrorCode::Unsupported,
         "a function needs {} registers at once, at most {} are possible; split it into several functions", end,
         std::numeric_limits<vm::Register>::max());
  if (end > used_.size()) used_.resize(end, false);
}

}  // namespace ingot::codegen
