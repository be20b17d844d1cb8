#pragma once
#include <vector>

#include "runtime/jit/ir.h"

namespace ingot::jit {

// Where each value is held: a register, or a place in the stack frame.
struct Places {
  static constexpr int16_t kNone = -1;
  std::vector<int16_t> registers;  // kNone: in the frame, or a constant
  std::vector<int16_t> frame;      // kNone: in a register, or a constant
  int16_t frame_places = 0;
};

// Linear scan: a value holds its register from the first instruction that gives it to the last one that reads it, and
// through every loop that it enters alive. Those that are alive during a call, and the least used ones where registers
// run out, lie in the frame.
Places assign_places(const Function& function, int registers);

}  // namespace ingot::jit
