#pragma once
#include <vector>

#include "runtime/tensor/tensor.h"
#include "vm/executable/program.h"
#include "vm/verifier/facts.h"

namespace ingot::vm {

// The layout of each allocation site of a function. ChannelsLast: rank-4 tensors of the arena that nothing but kernels
// touches, each operand of which may lie so (takes_channels_last), and which are not alive across a jump. RowMajor: all
// others. `known[k]` says that all operands of kernel site k have known dimensions; the others are prepared as they are
// met, row-major.
std::vector<Layout> assign_layouts(const Program& program, const Function& function, const FunctionFacts& facts,
                                   const std::vector<bool>& known);

}  // namespace ingot::vm
