#pragma once
#include "compiler/transform/pass.h"

namespace ingot::transform {

#define PASS(name, needs, leaves, kind, summary) ir::Module name(ir::Module module, PassContext& context);
#include "compiler/transform/passes.def"

}  // namespace ingot::transform
