#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "vm/executable/program.h"

namespace ingot::driver {

// The most that a symbolic dimension may be.
struct DimBound {
  std::string name;
  int64_t most;
};

// Of "n=512" each. InvalidArgument for other forms and for two bounds of one name.
std::vector<DimBound> parse_bounds(const std::vector<std::string>& texts);

// Bounds the dimensions of these names that parameters of exported functions have. InvalidArgument, listing the
// dimensions that there are, where none has the name.
void set_bounds(vm::Program& program, const std::vector<DimBound>& bounds);

}  // namespace ingot::driver
