#pragma once
#include <exception>

#include "vm/interpreter/machine.h"

namespace ingot::vm {

// After an error left the run loop whose end mark is `mark`: notes the frames (of this loop and of those around it),
// releases what the registers of this loop's frames hold, frees their arena segments and takes the frames down, `mark`
// included. Gives the error as a Fault; one that is a Fault already keeps its frames.
Fault unwind(Machine& m, Frame* mark, std::exception_ptr error);

}  // namespace ingot::vm
