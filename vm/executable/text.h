#pragma once
#include <string>
#include <string_view>

#include "vm/executable/program.h"

// The text form of a whole program: what `disasm` prints, `asm` reads and tests are written in.
//
//   meta "producer" = "ingot"
//   import "my.func" writes [0]
//   const c0 = tensor float32 (2,) {1, 2.5}
//   kernel k0 = matmul 2 -> 1 {transpose_b=1} [relu, clip(0, 6)]
//   prim_func @scale(A: Buffer[(k,), float32], ...) { ... }
//
//   func @main exported params 1 registers 3 {
//     vars n
//     signature fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
//     names "x"
//     check t0 = (Tensor[(n,), float32],) binds (1,)
//     storage s0 = float32 (n,)
//     code
//       check_params t0, [r1]
//     L1:
//       loop [r0 any kept, r1 Prim int64 uncounted]
//       at 12:3
//       jump L1
//   }
//
// docs/bytecode.md has the rest: constants, operands, functions' tables.
namespace ingot::vm {

// What write_program gives for assemble(disassemble(p)) and for p is equal byte for byte, if p is verified and its
// PrimFuncs are such as can be written (runtime/tir/text.h). CorruptFile where the code is no sequence of instructions
// or operands name nothing; a verified program never fails.
std::string disassemble(const Program& program);
// One function as it stands in the whole program's text.
std::string disassemble(const Program& program, const Function& function);

// Throws ParseError; the message begins with "line:column: ". The program is not verified.
Program assemble(std::string_view text);

}  // namespace ingot::vm
