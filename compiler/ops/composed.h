#pragma once
#include "compiler/ops/call.h"
#include "compiler/ops/operands.h"

// Operators whose meaning is a composition of others: `define` gives it, what is known of the result follows from it.
// The functions of composed operators say nothing of operands that only the composition looks at.
namespace ingot::ops {

// StructInfo of the composition that the operator's `define` gives. Errors carry the operator's name in front.
StructInfo infer_composed(const ir::CallSite& call);
// The strongest of the composition's effects.
ir::Effect composed_effect(const ir::CallSite& call);

}  // namespace ingot::ops
