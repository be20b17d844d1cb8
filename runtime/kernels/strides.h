#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kernels/kernel.h"

namespace ingot {

// How many elements lie between neighbours of each logical dimension; 0 for all where there are no elements. Dimensions
// of an operand that prepare_kernel has checked, so nothing overflows.
std::vector<int64_t> strides_of(std::span<const int64_t> dims, Layout layout);
inline std::vector<int64_t> strides_of(const OperandSpec& operand) { return strides_of(operand.dims, operand.layout); }

// The same for reading the operand as if it had dimensions `to`: 0 along broadcast ones, of which the operand may lack
// leading ones.
std::vector<int64_t> broadcast_strides(const OperandSpec& operand, std::span<const int64_t> to);

}  // namespace ingot
