#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "runtime/kernels/kernel.h"

// What the contracts' checks share. All throw as prepare_kernel states; messages begin with the contract's name.
namespace ingot {

// Every contract: as many operands as the call says, with sizes that can be computed and dtypes that have elements;
// post-ops that exist, and only where the contract takes some.
void check_common(const Problem& problem);

// Inputs of the contract itself (`names`, in order), then one per Add post-op; one output.
void check_operands(const Problem& problem, std::initializer_list<std::string_view> names);

// Attributes of no other name.
void check_attributes(const KernelCall& call, std::initializer_list<std::string_view> names);

// All operands have the output's dtype, which is one of numeric kind; post-ops that need floats have them.
void check_dtypes(const Problem& problem, bool floats_only);

// Rank 4, no dimension above kMaxExtent.
void check_spatial(const Problem& problem, const OperandSpec& operand, std::string_view name);

void check_same_dims(const Problem& problem, const OperandSpec& a, std::string_view a_name, const OperandSpec& b,
                     std::string_view b_name);

// Post-op inputs, from input `first` on, broadcast to the output's dimensions.
void check_post_op_inputs(const Problem& problem, size_t first);

// An attribute of N integers, each in [low, high].
template <size_t N>
std::array<int64_t, N> integers_in_range(const KernelCall& call, std::string_view name, int64_t fallback, int64_t low,
                                         int64_t high);
extern template std::array<int64_t, 2> integers_in_range(const KernelCall&, std::string_view, int64_t, int64_t,
                                                         int64_t);
extern template std::array<int64_t, 4> integers_in_range(const KernelCall&, std::string_view, int64_t, int64_t,
                                                         int64_t);
// An attribute of one integer in [low, high].
int64_t integer_in_range(const KernelCall& call, std::string_view name, int64_t fallback, int64_t low, int64_t high);

// Keeps sums and products of a dimension, an attribute and a dilation within int64.
inline constexpr int64_t kMaxExtent = (int64_t{1} << 31) - 1;

// a * b * ..., saturating: for Kernel::work().
uint64_t saturating_product(std::initializer_list<int64_t> factors);
uint64_t count_elements(std::span<const int64_t> dims);

// Does the channels-last column of kernels.def: no operand, or every operand.
inline bool no_operand(const KernelCall&, size_t) { return false; }
inline bool every_operand(const KernelCall&, size_t) { return true; }

}  // namespace ingot
