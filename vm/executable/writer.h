#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

#include "vm/executable/program.h"

namespace ingot::vm {

// The program as an executable file (docs/executable_format.md). Deterministic: equal programs give equal bytes. The
// program must be of a shape that can be written (kernel calls name PrimFuncs of prim_funcs, sizes fit their fields):
// Internal otherwise.
std::vector<std::byte> write_program(const Program& program);

// The same into a file, crash safe and without a second copy of the constants. Throws Io.
void save_program(const Program& program, const std::filesystem::path& path);

}  // namespace ingot::vm
