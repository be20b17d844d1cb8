#pragma once
#include <string_view>

#include "compiler/ir/expr.h"
#include "compiler/ir/module.h"
#include "compiler/ir/op.h"

namespace ingot::analysis {

// May the binding be dropped, duplicated or moved? The one place that says so, for functions of form Typed and later.
//
//   Total    yes: nothing is seen but the value
//   MayFail  no: it can raise an error. match_casts and annotations that are checked, computed dimensions, operators
//            that say so, calls of pure functions (they may fail, or never return)
//   Effect   no: PackedFuncs, calls of impure functions, operators that say so
//
// A branch does what the bindings in it do, so this walks them.
ir::Effect effect_of(const ir::Binding& binding);

// Is the value held against a match_cast or an annotation at run time?
bool is_checked(const ir::Binding& binding);

// Operators that pass values to a PackedFunc, their first argument, and state what it gives.
inline bool is_foreign_call(std::string_view op) {
  return op == "call_packed" || op == "call_pure_packed" || op == "call_dps_packed";
}

// Does a PackedFunc of the module write to tensors of the program? Those of call_dps_packed write fresh ones only. In
// such a module reading a tensor is no longer total: passes that move reads, or share tensors, leave it as it is.
bool writes_tensors(const ir::Module& module);

}  // namespace ingot::analysis
