#pragma once
#include <vector>

#include "vm/isa/isa.h"

namespace ingot::codegen {

// Hands out the registers of one frame, lowest first, so that call windows stay low.
class Registers {
 public:
  vm::Register take();
  // A particular one, which must be free.
  void claim(vm::Register index);
  void release(vm::Register index);
  bool is_free(size_t index) const { return index >= used_.size() || !used_[index]; }
  // The first register above everything in use: where a call's window begins.
  vm::Register top() const;
  // Makes sure that the frame has registers up to `end`, not included.
  void reserve(size_t end);
  // How many the frame needs. Unsupported above 65,535.
  uint32_t count() const { return static_cast<uint32_t>(used_.size()); }

 private:
  std::vector<bool> used_;
  size_t lowest_free_ = 0;  // no free register below
  size_t top_ = 0;          // nothing in use from here on
};

}  // namespace ingot::codegen
