#pragma once
#include <cstdint>

#include "vm/interpreter/machine.h"

// What may stop a run from outside: budget, deadline, cancel token. poll() itself is declared with the instructions.
namespace ingot::vm {

void start_controls(Machine& m, const RunOptions& options);
// As poll(), and reads the clock every time: between kernels.
void poll_clock(Machine& m);
// A tir::PollPoint's function; `machine` is a Machine. May be called by any thread of a kernel.
bool poll_in_kernel(void* machine);
// Takes `work` instructions from the budget; ResourceExhausted where they are not left.
void charge(Machine& m, uint64_t work);

}  // namespace ingot::vm
