#pragma once
#include "compiler/ir/module.h"
#include "vm/executable/program.h"

namespace ingot::codegen {

// Turns a module of form Lowered into a program for the VM; what the verifier demands of it holds by construction.
// Throws Unsupported, naming the construct, for what has no instructions yet. Pure: the same module gives the same
// program.
vm::Program generate(const ir::Module& module);

}  // namespace ingot::codegen
