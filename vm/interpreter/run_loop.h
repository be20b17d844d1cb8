#pragma once
#include "vm/interpreter/machine.h"

namespace ingot::vm {

// Runs the machine's top frame, and what it calls, until it returns into a frame without a function; the result is then
// where the registers of the top frame began. Throws what instructions and PackedFuncs throw, and leaves the frames as
// they are for unwind().
void run_loop(Machine& machine);

// Where a frame without a function goes on.
const CodeUnit* halt_code();

}  // namespace ingot::vm
