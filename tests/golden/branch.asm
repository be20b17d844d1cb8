meta "producer" = "ingot 0.1.0"
meta "source" = "branch.relax"
const c0 = scalar int32 0
const c1 = scalar bool 1
const c2 = scalar int32 1
const c3 = scalar bool 0
prim_func @relu(x0: Buffer[(n,), float32], y: Buffer[(n,), float32]) {
  for i0 in n parallel {
    y[i0] = max(x0[i0], 0f32);
  }
}
kernel k0 = prim_func 1 -> 1 of 0
kernel k1 = binary_add 2 -> 1
kernel k2 = binary_add 2 -> 1
kernel k3 = binary_add 2 -> 1

func @main exported params 2 captures 0 registers 5 {
  vars n
  signature fn(Tensor[(n,), float32], Tensor[(), bool]) -> Tensor[(n,), float32]
  names "x", "c"
  storage s0 = float32 (n,)
  check t0 = (Tensor[(n,), float32], Tensor[(), bool]) binds (1)
  source "branch.relax"
  code
    at 1:1
    check_params t0, [r2]
    plan [r2]
    at 2:3
    alloc_tensor r3, s0
    call_kernel k0, [r0, r3]
    at 3:3
    jump_unless r1, L41
    kill r0
    at 3:22
    new_tensor r0, s0
    call_kernel k1, [r3, r3, r0]
    move r4, r0
    jump L44
  L41:
    own r4, r0
  L44:
    at 4:3
    new_tensor r0, s0
    call_kernel k2, [r4, r3, r0]
    kill r4
    at 4:7
    return r0
}

func @scal exported params 2 captures 0 registers 4 {
  signature fn(Tensor[(), float32], Tensor[(), float32]) -> Tensor[(), float32]
  names "a", "b"
  check t0 = (Tensor[(), float32], Tensor[(), float32])
  source "branch.relax"
  code
    at 7:1
    check_params t0, []
    at 7:52
    less.f32 r2, r0, r1
    at 7:39
    jump_unless r2, L22
    at 7:63
    mul.f32 r2, r0, r1
    move r3, r2
    jump L29
  L22:
    at 7:80
    div.f32 r2, r0, r1
    move r3, r2
  L29:
    at 7:91
    add.f32 r1, r3, r0
    return r1
}

func @even exported params 1 captures 0 registers 4 {
  signature fn(Tensor[(), int32]) -> Tensor[(), bool]
  names "n"
  check t0 = (Tensor[(), int32],)
  source "branch.relax"
  code
    at 8:1
    check_params t0, []
    at 8:36
    load_const r1, c0
    equal.i32 r2, r0, r1
    at 8:32
    jump_unless r2, L22
    at 8:47
    load_const r0, c1
    return r0
  L22:
    at 8:66
    load_const r1, c2
    sub.i32 r2, r0, r1
    at 8:61
    move r3, r2
    tail_call r3, @odd
}

func @odd exported params 1 captures 0 registers 4 {
  signature fn(Tensor[(), int32]) -> Tensor[(), bool]
  names "n"
  check t0 = (Tensor[(), int32],)
  source "branch.relax"
  code
    at 9:1
    check_params t0, []
    at 9:35
    load_const r1, c0
    equal.i32 r2, r0, r1
    at 9:31
    jump_unless r2, L22
    at 9:46
    load_const r0, c3
    return r0
  L22:
    at 9:67
    load_const r1, c2
    sub.i32 r2, r0, r1
    at 9:61
    move r3, r2
    tail_call r3, @even
}

func @loop exported params 2 captures 0 registers 7 {
  vars n
  signature fn(Tensor[(), int32], Tensor[(n,), float32]) -> Tensor[(n,), float32]
  names "n", "acc"
  storage s0 = float32 (n,)
  check t0 = (Tensor[(), int32], Tensor[(n,), float32]) binds (1)
  source "branch.relax"
  code
    at 10:1
    check_params t0, [r2]
    plan [r2]
    at 11:7
    load_const r3, c0
    equal.i32 r4, r0, r3
    at 11:3
    jump_unless r4, L25
    at 10:22
    own r0, r1
    return r0
  L25:
    at 11:38
    load_const r3, c2
    sub.i32 r4, r0, r3
    at 11:46
    new_tensor r0, s0
    call_kernel k3, [r1, r1, r0]
    kill r1
    at 11:32
    move r5, r4
    move r6, r0
    tail_call r5, @loop
}
