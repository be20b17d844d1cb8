Calls, tail calls and their faults.

// RUN: ingot-rt run --input i64=2 --input i64=3
func @main exported params 2 captures 0 registers 8 {
  signature fn(Tensor[(), int64], Tensor[(), int64]) -> Tensor[(), int64]
  names "m", "n"
  check t0 = (Tensor[(), int64], Tensor[(), int64]) binds ()
  code
    check_params t0, []
    tail_call r0, @ackermann
}
func @ackermann params 2 captures 0 registers 8 {
  signature fn(Tensor[(), int64], Tensor[(), int64]) -> Tensor[(), int64]
  code
    load_int r2, int64, 0
    load_int r3, int64, 1
    equal.i64 r4, r0, r2
    jump_unless r4, L1
    add.i64 r0, r1, r3
    return r0
  L1:
    sub.i64 r5, r0, r3
    equal.i64 r4, r1, r2
    jump_unless r4, L2
    move r6, r3
    tail_call r5, @ackermann
  L2:
    sub.i64 r7, r1, r3
    move r6, r0
    call r6, @ackermann
    tail_call r5, @ackermann
}
// ---- expect
i64=9

// RUN: ingot-rt run --input i32=7 --input i32=0
func @main exported params 2 captures 0 registers 4 {
  signature fn(Tensor[(), int32], Tensor[(), int32]) -> Tensor[(), int32]
  names "a", "b"
  check t0 = (Tensor[(), int32], Tensor[(), int32]) binds ()
  code
    check_params t0, []
    call r0, @divide
    return r0
}
func @divide params 2 captures 0 registers 4 {
  signature fn(Tensor[(), int32], Tensor[(), int32]) -> Tensor[(), int32]
  code
    div.i32 r0, r0, r1
    return r0
}
// ---- expect error
error[DivisionByZero]: an integer is divided by zero
at @divide, unit 0
at @main, unit 4
