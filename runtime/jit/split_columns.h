#pragma once
#include "runtime/tir/nest.h"

namespace ingot::jit {

// Loops over columns that add up rows, once or several times, and compute something from the sums, become one loop for
// each sum and each other statement, so that interchange_sums takes the sums. What such a loop holds for one column it
// then holds for all. Where a loop over columns has its iterations in lanes as it is (`lanes`: how many 4-byte elements a
// register has), it stays one. The meaning stays.
void split_columns(tir::Nest& nest, uint8_t lanes);

}  // namespace ingot::jit
