#pragma once
#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"

namespace ingot::transform {

// Lets programs use PrimFuncs as functions that write to their arguments. For a module of form Parsed:
//
//   @f as a callee or a value    becomes a private impure function of the buffers and scalars of @f, which calls @f
//                                through call_tir on fresh results, writes these to the last arguments (ingot.write)
//                                and gives ().
//   call_tir_inplace(@f, (args), outputs, vars=shape(...), inplace_indices=(i, ...))
//                                becomes a call of a private function that gives output k as argument i_k, which it
//                                writes to, or as a fresh tensor where i_k is -1. The parameters of @f are the args
//                                and then the fresh outputs; or, as for call_tir, the args and then all outputs.
//
// An output that @f does not write whole, or reads, begins as what the argument holds. All reads come before all
// writes, also where arguments are one tensor. Such functions have the attribute kStandsFor.
ir::Module wrap_prim_funcs(ir::Module module, ir::Diagnostics& diagnostics);

}  // namespace ingot::transform
