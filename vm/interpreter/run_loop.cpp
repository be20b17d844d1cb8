#include "vm/interpreter/run_loop.h"

#include "runtime/base/arithmetic.h"
#include "runtime/base/convert.h"
#include "runtime/checks/faults.h"
#include "vm/interpreter/instructions.h"
#include "vm/isa/decode.h"

// Computed goto over the opcode table. The families of instructions are written in instructions/*.inc, in terms of
//   BEGIN(Name) ... NEXT()        one instruction; `Ops` are its operands, `r` the registers, `pc` its first unit
//   JUMP(distance), ENTER()       other ways to go on
//   SAVE()                        before anything that may throw or looks at the frames: only here does `m` learn of
//   them
// Pedantic warnings are about the addresses of labels.
#pragma GCC diagnostic ignored "-Wpedantic"

namespace ingot::vm {
namespace {

constexpr CodeUnit kHalt = kOpcodeCount;
constexpr CodeUnit kHaltCode[] = {kHalt};

}  // namespace

const CodeUnit* halt_code() { return kHaltCode; }

void run_loop(Machine& m) {
  static const void* const direct[] = {
#define OP(Name, ...) &&L_##Name,
#define EACH(dtype, suffix, type, Name) &&L_##Name##dtype,
#define TYPED(Name, mnemonic, dtypes, ...) INGOT_TYPED_##dtypes(EACH, Name)
#include "vm/isa/opcodes.def"
      &&L_Halt,
  };
  // With a budget or a profile, every instruction is looked at on its way.
  static const void* const watched[] = {
#define OP(Name, ...) &&L_Watch,
#define TYPED(Name, mnemonic, dtypes, ...) INGOT_TYPED_##dtypes(EACH, Name)
#undef EACH
#define EACH(dtype, suffix, type, Name) &&L_Watch,
#include "vm/isa/opcodes.def"
#undef EACH
      &&L_Halt,
  };

  const void* const* const table = m.controls.watched ? watched : direct;
  const LinkedFunction* const functions = m.program->functions.data();
  Frame* frame = m.frame;
  Slot* r = frame->registers;
  const CodeUnit* pc = frame->pc;

#define BEGIN(Name) \
  L_##Name : {      \
    using Ops [[maybe_unused]] = OperandsOf<Opcode::Name>;
#define NEXT()          \
  pc += Ops::units(pc); \
  goto* table[*pc];     \
  }
#define JUMP(distance) \
  pc += (distance);    \
  goto* table[*pc];
#define END() }
#define SAVE() (m.frame = frame)->pc = pc

  goto* table[*pc];

L_Watch:
  SAVE();
  if (m.controls.profile != nullptr) note_instruction(m, *frame, pc);
  if (m.controls.budgeted) {
    if (m.controls.budget == 0) fail_budget(m);
    --m.controls.budget;
  }
  goto* direct[*pc];

L_Halt:
  return;

#include "vm/interpreter/instructions/calls.inc"
#include "vm/interpreter/instructions/data.inc"
#include "vm/interpreter/instructions/objects.inc"
#include "vm/interpreter/instructions/scalars.inc"
#include "vm/interpreter/instructions/tensors.inc"

#undef BEGIN
#undef NEXT
#undef JUMP
#undef END
#undef SAVE
}

}  // namespace ingot::vm
