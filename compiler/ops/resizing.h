#pragma once
#include "compiler/ops/call.h"
#include "compiler/ops/operands.h"

namespace ingot::ops {

// The data resized by the factors of these attributes, one for each spatial dimension, by attribute method. Sizes are
// rounded half up; `coordinates` as of resize2d.
ir::Expr upsampled(const ir::CallSite& call, std::span<const std::string_view> factors, std::string_view coordinates);

}  // namespace ingot::ops
