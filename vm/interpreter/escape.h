#pragma once
#include "vm/interpreter/machine.h"

namespace ingot::vm {

// The value as one that may go to any thread and outlive session and executable: Shared throughout, constants and arena
// tensors copied out, closures with a home. The slot keeps its own count. Nesting depth is not limited by the C++
// stack. Throws OutOfMemory.
Value escape(Machine& m, const Slot& slot);
// The same as PackedArgs wants it; `machine` is a Machine.
Value escape_for_packed(void* machine, const Slot& slot);

// The reverse for a value that nobody else holds: its memory, and that of all that nothing else holds either, goes back
// to the pool.
void recycle(Machine& m, Value value) noexcept;

}  // namespace ingot::vm
