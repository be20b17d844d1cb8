Executables as text and back, verified and described.

// RUN: ingot-rt asm -o %t/x.ingot
// RUN: ingot-rt disasm %t/x.ingot
// RUN: ingot-rt disasm %t/x.ingot -o %t/x.asm
// RUN: ingot-rt run %t/x.asm --input "prim(3)"
// RUN: ingot-rt inspect %s
func @main exported params 1 captures 0 registers 1 {
  signature fn(Prim[int64]) -> Prim[int64]
  names "n"
  check t0 = (Prim[int64],)
  code
    check_params t0, []
    return r0
}
// ---- expect

func @main exported params 1 captures 0 registers 1 {
  signature fn(Prim[int64]) -> Prim[int64]
  names "n"
  check t0 = (Prim[int64],)
  code
    check_params t0, []
    return r0
}
prim(3)
@main: fn(Prim[int64]) -> Prim[int64]
  parameter  n: Prim[int64]
  code       12 B, 1 registers
weights: 0 constants, 0 B in the file, 0 B packed
file: 1088 B: strings 17 B, functions 28 B, signatures 33 B, tables 34 B, code 12 B, constants 4 B, prim_funcs 4 B, kernels 4 B, imports 4 B, metadata 4 B

// RUN: ingot-rt verify
func @main exported params 0 captures 0 registers 1 {
  signature fn() -> Prim[int64]
  code
    return r0
}
// ---- expect error
error[CorruptFile]: executables.asm: function 'main': unit 0 (return):
