#include <algorithm>

#include "compiler/ops/functions.h"
#include "compiler/ops/operands.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

// For images, which kernels around may keep channels-last. Operands that broadcast are left to the PrimFunc, and so are
// those of other ranks, whose sum becomes part of what reads it.
std::optional<KernelCall> add_kernel(const CallSite& call) {
  constexpr size_t kImageRank = 4;
  if (operand(call, 0).rank() < kImageRank) return std::nullopt;
  const auto same = [](const PrimExpr& a, const PrimExpr& b) { return prove_equal(a, b) == Proof::Yes; };
  if (!std::ranges::equal(operand(call, 0).dims(), operand(call, 1).dims(), same)) return std::nullopt;
  KernelCall kernel;
  kernel.contract = Contract::binary_add;
  kernel.inputs = 2;
  return kernel;
}

}  // namespace ingot::ops
