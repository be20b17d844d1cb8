meta "producer" = "ingot 0.1.0"
meta "source" = "mlp.relax"
kernel k0 = matmul 2 -> 1 {has_bias=0, transpose_a=0, transpose_b=0}
kernel k1 = softmax 1 -> 1 {axis=1}

func @main exported params 2 captures 0 registers 4 {
  vars n
  signature fn(Tensor[(n, 4), float32], Tensor[(4, 3), float32]) -> Tensor[(n, 3), float32]
  names "x", "w"
  storage s0 = float32 (n, 3)
  check t0 = (Tensor[(n, 4), float32], Tensor[(4, 3), float32]) binds (1)
  source "mlp.relax"
  code
    at 1:1
    check_params t0, [r2]
    plan [r2]
    at 3:5
    alloc_tensor r3, s0
    call_kernel k0, [r0, r1, r3]
    kill r1
    kill r0
    at 4:5
    new_tensor r0, s0
    call_kernel k1, [r3, r0]
    at 4:9
    return r0
}
