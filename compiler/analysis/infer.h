#pragma once
#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"

namespace ingot::analysis {

// Derives the StructInfo of every expression of a module in normal form and gives unsuffixed literals their dtype
// (DESIGN section 4, relax_semantics.md "Deriving StructInfo"). The result is of form Typed; variables keep their
// identity. May be run again on a module of form Typed.
//
// Errors are collected: what depends on something that is wrong is not reported again. Where something can only be
// checked at run time, a warning says so.
ir::Module infer(ir::Module module, ir::Diagnostics& diagnostics);

}  // namespace ingot::analysis
