#pragma once
#include "runtime/kernels/kernel.h"

namespace ingot {

// The same elements, of any dtype, in another layout.
//
//   input       data
//   output      the same dimensions and dtype
// No attributes.
void check_reorder(const Problem& problem);

}  // namespace ingot
