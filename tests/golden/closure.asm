meta "producer" = "ingot 0.1.0"
meta "source" = "closure.relax"
kernel k0 = binary_add 2 -> 1

func @make exported params 1 captures 0 registers 4 {
  vars n
  signature fn(Tensor[(n,), float32]) -> fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  source "closure.relax"
  code
    at 1:1
    check_params t0, [r1]
    at 2:3
    own r2, r0
    copy r0, r1
    make_closure r3, @make.f, [r2, r0]
    at 2:7
    return r3
}

func @main exported params 1 captures 0 registers 4 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  source "closure.relax"
  code
    at 5:1
    check_params t0, [r1]
    at 6:3
    alias r2, r0
    call r2, @make
    at 7:3
    move r3, r0
    tail_call_value r3, r2, 1
}

func @make.f params 1 captures 2 registers 4 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
  names "y"
  storage s0 = float32 (n,)
  check t0 = (Tensor[(n,), float32], Tensor[(n,), float32], Prim[int64, n]) binds (1)
  source "closure.relax"
  code
    at 2:12
    check_params t0, [r3]
    plan [r3]
    at 2:45
    new_tensor r2, s0
    call_kernel k0, [r1, r0, r2]
    kill r0
    kill r1
    return r2
}
