#pragma once
#include <cstdint>
#include <vector>

#include "vm/executable/program.h"
#include "vm/verifier/facts.h"
#include "vm/verifier/register_set.h"

namespace ingot::vm {

// Checks everything that the interpreter, the loader and the kernels take for granted. Throws CorruptFile that names
// function, unit and instruction; TypeError and WellFormedness of PrimFuncs come as CorruptFile as well. The work is
// bounded by a constant times the program's size.
//
// A program that passes has these properties:
//   structure   every position in a table exists; exported names differ; signatures, checks and kernel calls have the
//               counts that their users assume; constants have as many bytes as their dimensions say
//   PrimFuncs   pass tir::check
//   control     every jump leads to an instruction of the same function, backwards only to a declared loop header, and
//               no path runs over the end
//   registers   an instruction finds in every register that it reads a value of the class that it demands; a value that
//               is counted is released, moved or returned exactly once on every path; parameters and captures belong to
//               the callee
//   borrowing   an alias is read only while the register that it was taken from holds its value; what may lie in an
//   arena
//               or be an alias is not returned, nor put into tuples or closures, nor handed to tail calls (aliases and
//               arena of this frame); PackedFuncs get copies of what lies in an arena
//   calls       arguments fill the window, nothing that is counted lies above it, direct calls have the callee's arity
//   and
//               no alias of an argument that the call consumes
//   kernels     operands are tensors or scalars of known dtype; outputs are tensors that the function itself allocated
//               and that nobody else can see, or scalars in its registers; no output is an input
//   arena       `plan` runs at most once and before all allocations, whose sizes use entry dimensions only
//
// Left to run time: ranks and dimensions (check_params, check_value, prepare_kernel, plan), fields of tuples, arity and
// result class of closures and PackedFuncs, elements that serve as indices, and writable memory of arguments that an
// import writes (TensorObject::read_only).
ProgramFacts verify(const Program& program);

enum class FramePoint : uint8_t {
  Before,  // the instruction at `unit` has not begun, or has raised an error before it changed any register
  InCall,  // the frame waits for the call at `unit`: its arguments and the called value are the callee's
};

// The registers of a frame of `function` that hold counted values (unless their slots say `borrowed`) and must be
// released when the frame is torn down. `facts` is what verify gave for the function, and `into` has room for its
// registers; what it holds is forgotten. Allocates nothing.
void registers_to_release(const Function& function, const FunctionFacts& facts, uint32_t unit, FramePoint point,
                          RegisterSet& into) noexcept;

}  // namespace ingot::vm
