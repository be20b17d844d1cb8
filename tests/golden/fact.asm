meta "producer" = "ingot 0.1.0"
meta "source" = "fact.relax"
const c0 = scalar int32 1
const c1 = scalar int32 0

func @fact exported params 1 captures 0 registers 4 {
  signature fn(Tensor[(), int32]) -> Tensor[(), int32]
  names "n"
  check t0 = (Tensor[(), int32],)
  source "fact.relax"
  code
    at 1:1
    check_params t0, []
    at 1:37
    load_const r1, c0
    less_equal.i32 r2, r0, r1
    at 1:33
    jump_unless r2, L22
    at 1:48
    load_const r0, c0
    return r0
  L22:
    at 1:70
    load_const r1, c0
    sub.i32 r2, r0, r1
    at 1:64
    alias r3, r2
    call r3, @fact
    move r1, r3
    at 1:59
    mul.i32 r2, r0, r1
    return r2
}

func @ack exported params 2 captures 0 registers 7 {
  signature fn(Tensor[(), int32], Tensor[(), int32]) -> Tensor[(), int32]
  names "m", "n"
  check t0 = (Tensor[(), int32], Tensor[(), int32])
  source "fact.relax"
  code
    at 2:1
    check_params t0, []
    at 3:7
    load_const r2, c1
    equal.i32 r3, r0, r2
    at 3:3
    jump_unless r3, L26
    at 3:18
    load_const r0, c0
    add.i32 r2, r1, r0
    return r2
  L26:
    at 3:38
    load_const r2, c1
    equal.i32 r3, r1, r2
    at 3:34
    jump_unless r3, L57
    at 3:54
    load_const r1, c0
    sub.i32 r2, r0, r1
    at 3:49
    move r3, r2
    load_const r4, c0
    tail_call r3, @ack
  L57:
    at 3:79
    load_const r2, c0
    sub.i32 r3, r0, r2
    at 3:96
    load_const r2, c0
    sub.i32 r4, r1, r2
    at 3:87
    alias r5, r0
    alias r6, r4
    call r5, @ack
    move r1, r5
    at 3:74
    move r4, r3
    move r5, r1
    tail_call r4, @ack
}

func @main exported params 1 captures 0 registers 2 {
  signature fn(Tensor[(), int32]) -> Tensor[(), int32]
  names "n"
  check t0 = (Tensor[(), int32],)
  source "fact.relax"
  code
    at 5:1
    check_params t0, []
    at 5:33
    move r1, r0
    tail_call r1, @fact
}
