#pragma once
#include <vector>

#include "runtime/kernels/kernel.h"

namespace ingot {

// The dimensions of the buffer parameters of a problem's PrimFunc.
std::vector<std::vector<int64_t>> buffer_dims(const Problem& problem);
// The values of its int64 scalars, 0 for others; empty where the value of one that sizes may depend on is not known
// yet.
std::vector<int64_t> scalar_values(const Problem& problem);

// The operands of a call as PrimFuncs take them: the addresses of buffers and those of scalars, in memory behind
// `scratch` of table_bytes().
struct PrimFuncArgs {
  std::span<std::byte* const> buffers;
  std::span<const void* const> scalars;
};
class PrimFuncOperands {
 public:
  explicit PrimFuncOperands(const Problem& problem);
  size_t table_bytes() const { return table_bytes_; }
  PrimFuncArgs arrange(const KernelArgs& args, std::byte* table) const noexcept;

 private:
  size_t inputs_;  // that are buffers
  size_t table_bytes_;
};

}  // namespace ingot
