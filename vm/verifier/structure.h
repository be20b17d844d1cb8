#pragma once
#include "vm/executable/program.h"

namespace ingot::vm {

// What a program's tables promise to each other, apart from code: see `structure` and `PrimFuncs` in verifier.h. Throws
// CorruptFile that names the function, constant, kernel call or PrimFunc.
void check_structure(const Program& program);

}  // namespace ingot::vm
