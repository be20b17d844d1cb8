#pragma once
#include <string>
#include <string_view>

#include "vm/loader/executable.h"

namespace ingot::vm::api {

// What an executable holds, as JSON: see docs/executable_format.md. `dims` ("n=128,m=3") gives values to entry
// dimensions by name; memory and kernels are told for functions all of whose entry dimensions have one. Plans what is
// not planned yet. Throws InvalidArgument where `dims` cannot be read.
std::string describe_executable(const Executable& executable, std::string_view dims);

}  // namespace ingot::vm::api
