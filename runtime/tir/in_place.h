#pragma once
#include <vector>

#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// For each input: may the output lie exactly on its memory? So it is where no element is read after the run has written
// it, in whatever order the iterations of a loop run, and where nothing is written but the whole output, once. Dtypes
// agree; that dimensions do is for the caller to see. None, where the function has several outputs.
std::vector<bool> in_place_inputs(const PrimFunc& func);

}  // namespace ingot::tir
