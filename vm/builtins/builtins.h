#pragma once
#include "vm/builtins/args.h"
#include "vm/isa/builtins.h"

// The code of the builtins: one function for each line of vm/isa/builtins.def, in the file of its family. Interpreter
// and evaluator call the same.
//
// A builtin reads its arguments, checks them, and gives a result of its own that is never in an arena. Long ones are
// not interrupted: the sizes of their results are charged to the pool before they begin.
namespace ingot::vm::builtins {

#define BUILTIN(name, min_args, max_args, meaning) Value name(const Args& args);
#include "vm/isa/builtins.def"

// By number; ArityMismatch where the table says so.
Value call(Builtin builtin, ObjectPool* pool, std::span<const Slot> args);

}  // namespace ingot::vm::builtins
