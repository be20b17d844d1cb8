#pragma once
#include <string>

#include "compiler/ops/operands.h"

namespace ingot::ops {

// The attribute `reduction` of a loss or its gradient: predictions [N, C, ...] or [C], targets [N, ...] or ().
// ShapeMismatch where these do not fit, InvalidArgument for another word than none, mean and sum.
std::string nll_reduction(const ir::CallSite& call, const Operand& predictions, const Operand& targets);

}  // namespace ingot::ops
