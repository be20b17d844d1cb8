#pragma once
#include "compiler/ir/diagnostics.h"
#include "compiler/ir/module.h"

namespace ingot::analysis {

// Holds a module of any form against the well-formedness criteria of the Relax specification, each reported as
// WellFormedness.N with its number there, and against names without a binding (TypeError). All violations are
// reported.
//
// Not here: 8 (a recursive function whose result nothing fixes), purity, and the StructInfo of a variable that stands
// for a shape belong to inference; the normal form to check_form. 18 permits symbolic values (docs/language.md), 20 is
// found by the parser, since a DType has no other widths.
void check_well_formed(const ir::Module& module, ir::Diagnostics& diagnostics);

}  // namespace ingot::analysis
