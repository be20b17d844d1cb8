#pragma once
#include "runtime/jit/ir.h"

namespace ingot::jit {

// Makes constants of innermost loops in lanes values that are loaded in front of the loop: a core loads one register of
// 64 bytes per cycle, and operands in memory are loads. Those that find no register stay in memory.
void hoist_constants(Function& function);

}  // namespace ingot::jit
