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

// RUN: ingot-rt run --input i16=-300
// RUN: ingot-rt run --input i16=7
func @main exported params 1 captures 0 registers 2 {
  signature fn(Tensor[(), int16]) -> Tensor[(), int16]
  names "a"
  check t0 = (Tensor[(), int16],)
  code
    check_params t0, []
    jump_unless_less_imm.i16 r0, -299, high
    mul_imm.i16 r1, r0, 1000
    return r1
  high:
    jump_unless_greater_equal_imm.i16 r0, 7, low
    load_int r1, int16, 1
    return r1
  low:
    load_int r1, int16, 0
    return r1
}
// ---- expect
i16=27680
i16=1

// RUN: ingot-rt run --input f32=nan
// RUN: ingot-rt run --input f32=2
func @main exported params 1 captures 0 registers 6 {
  signature fn(Tensor[(), float32]) -> Object
  names "a"
  check t0 = (Tensor[(), float32],)
  code
    check_params t0, []
    load_int r1, int32, 0
    jump_unless_less_equal_imm.f32 r0, 2, L1
    add_imm.i32 r1, r1, 1
  L1:
    jump_unless_greater_imm.f32 r0, 1, L2
    add_imm.i32 r1, r1, 2
  L2:
    jump_unless_equal.f32 r0, r0, L3
    add_imm.i32 r1, r1, 4
  L3:
    jump_unless_not_equal.f32 r0, r0, L4
    add_imm.i32 r1, r1, 8
  L4:
    jump_unless_less_equal.f32 r0, r0, L5
    add_imm.i32 r1, r1, 16
  L5:
    jump_unless_less.f32 r0, r0, L6
    add_imm.i32 r1, r1, 32
  L6:
    jump_unless_not_equal_imm.f32 r0, 2, L7
    add_imm.i32 r1, r1, 64
  L7:
    jump_unless_equal_imm.f32 r0, 2, L8
    add_imm.i32 r1, r1, 128
  L8:
    return r1
}
// ---- expect
i32=72
i32=151

// RUN: ingot-rt verify
func @main exported params 2 captures 0 registers 2 {
  signature fn(Tensor[(), int32], Tensor[(), float32]) -> Tensor[(), int32]
  names "a", "b"
  check t0 = (Tensor[(), int32], Tensor[(), float32])
  code
    check_params t0, []
    jump_unless_less.i32 r0, r1, L1
  L1:
    return r0
}
// ---- expect error
error[CorruptFile]: immediates.asm: function 'main': unit 4 (jump_unless_less.i32): r1 holds Scalar float32, not Scalar int32
