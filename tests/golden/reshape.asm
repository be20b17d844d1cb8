meta "producer" = "ingot 0.1.0"
meta "source" = "reshape.relax"
prim_func @relu(x0: Buffer[(2, n), float32], y: Buffer[(2, n), float32]) {
  for i0 in 2 parallel {
    for i1 in n {
      y[i0, i1] = max(x0[i0, i1], 0f32);
    }
  }
}
prim_func @relu_1(x0: Buffer[(n * 2,), float32], y: Buffer[(n * 2,), float32], n: int64) {
  for i0 in n * 2 parallel {
    y[i0] = max(x0[i0], 0f32);
  }
}
kernel k0 = prim_func 1 -> 1 of 0
kernel k1 = prim_func 2 -> 1 of 1

func @main exported params 1 captures 0 registers 5 {
  vars n
  signature fn(Tensor[(2, n), float32]) -> Tensor[(n * 2,), float32]
  names "x"
  storage s0 = float32 (n * 2,)
  check t0 = (Tensor[(2, n), float32],) binds (1)
  expr e0 = n * 2
  source "reshape.relax"
  code
    at 1:1
    check_params t0, [r1]
    plan [r1]
    at 2:3
    alias r2, r0
    own r2, r2
    eval_dim r3, e0, [r1]
    new_view r4, r2, [r3]
    kill r2
    kill r0
    at 2:7
    return r4
}

func @two exported params 1 captures 0 registers 4 {
  vars n
  signature fn(Tensor[(2, n), float32]) -> Tensor[(n * 2,), float32]
  names "x"
  storage s0 = float32 (2, n)
  storage s1 = float32 (n * 2,)
  check t0 = (Tensor[(2, n), float32],) binds (1)
  source "reshape.relax"
  code
    at 5:1
    check_params t0, [r1]
    plan [r1]
    at 6:3
    alloc_tensor r2, s0
    call_kernel k0, [r0, r2]
    kill r0
    at 7:3
    alloc_view r0, r2, s1
    at 8:3
    copy r2, r1
    new_tensor r3, s1
    call_kernel k1, [r0, r2, r3]
    at 8:7
    return r3
}

func @three exported params 1 captures 0 registers 6 {
  vars n, m
  signature fn(Tensor) -> (Tensor[ndim=1, float32], Tensor[ndim=2, float32])
  names "x"
  check t0 = (Tensor,)
  check t1 = Tensor[(n, m), float32] binds (1, 1)
  expr e0 = n * m
  source "reshape.relax"
  code
    at 11:1
    check_params t0, []
    at 12:3
    own r1, r0
    check_value r1, t1, [r0, r2]
    at 13:3
    eval_dim r3, e0, [r0, r2]
    new_view r4, r1, [r3]
    at 14:3
    make_tuple r5, [r4, r1]
    move r1, r5
    return r1
}
