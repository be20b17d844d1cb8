#pragma once
#include "vm/interpreter/machine.h"

namespace ingot::vm {

// Fills Machine::imports from the session's registry, its allow-list and the ingot.* functions.
void resolve_imports(Machine& m);

}  // namespace ingot::vm
