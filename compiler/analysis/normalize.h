#pragma once
#include "compiler/ir/module.h"

namespace ingot::analysis {

// Brings a module of form Parsed to form Normal: bodies are sequences, nested expressions are bound to variables
// without a name in the order of evaluation (the callee first, then arguments from left to right, depth first), nested
// sequences are flattened, neighbouring blocks of one kind are joined. See "Normal Form" in the Relax specification.
//
// A graph binding moves to the start of the innermost sequence that holds all its uses, but into no function literal
// that it precedes; one without uses stays. Linear in the size of the module.
ir::Module normalize(const ir::Module& module);

}  // namespace ingot::analysis
