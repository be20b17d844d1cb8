prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k { B[i] = A[i] * 2f32; }
}
kernel k0 = prim_func 1 -> 1 of 0

func @main exported params 2 captures 0 registers 6 {
  vars n <= 4, m
  signature fn(Tensor[(n,), float32], Tensor[(m,), float32]) -> Tensor[(n,), float32]
  names "x", "y"
  storage s0 = float32 (n,)
  check t0 = (Tensor[(n,), float32], Tensor[(m,), float32]) binds (1, 1)
  code
    check_params t0, [r2, r3]
    plan [r2]
    alloc_tensor r4, s0
    call_kernel k0, [r0, r4]
    kill r1
    kill r0
    new_tensor r0, s0
    call_kernel k0, [r4, r0]
    return r0
}
func @small exported params 1 captures 0 registers 2 {
  vars n <= 1
  signature fn(Tensor[(n,), float32]) -> Prim[int64]
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  code
    check_params t0, [r1]
    kill r0
    return r1
}
