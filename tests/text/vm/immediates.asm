Constants as operands of instructions.

// RUN: ingot-rt run --input u8=250
// RUN: ingot-rt run --input u8=1
func @main exported params 1 captures 0 registers 3 {
  signature fn(Tensor[(), uint8]) -> Object
  names "a"
  check t0 = (Tensor[(), uint8],)
  code
    check_params t0, []
    add_imm.u8 r1, r0, 10
    add_imm.u8 r2, r0, -3
    make_tuple r0, [r1, r2]
    return r0
}
// ---- expect
u8=4
u8=247
u8=11
u8=254

// RUN: ingot-rt run --input f16=0.5
func @main exported params 1 captures 0 registers 2 {
  signature fn(Tensor[(), float16]) -> Tensor[(), float16]
  names "a"
  check t0 = (Tensor[(), float16],)
  code
    check_params t0, []
    add_imm.f16 r1, r0, -2
    return r1
}
// ---- expect
f16=-1.5

// RUN: ingot-rt verify
func @main exported params 1 captures 0 registers 2 {
  signature fn(Tensor[(), int32]) -> Tensor[(), int64]
  names "a"
  check t0 = (Tensor[(), int32],)
  code
    check_params t0, []
    add_imm.i64 r1, r0, 1
    return r1
}
// ---- expect error
error[CorruptFile]: immediates.asm: function 'main': unit 4 (add_imm.i64): r0 holds Scalar int32, not Scalar int64
