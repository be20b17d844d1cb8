Signatures and annotations are checked as they are met; dimensions that stand alone bind first.

// RUN: ingot-rt run --input "4xf32=1 2 3 4" --input "2xf32=1 2"
func @main exported params 2 captures 0 registers 4 {
  vars n
  signature fn(Tensor[(n * 2,), float32], Tensor[(n,), float32]) -> Prim[int64]
  names "x", "y"
  check t0 = (Tensor[(n * 2,), float32], Tensor[(n,), float32]) binds (1)
  expr e0 = n * n + 1
  code
    check_params t0, [r2]
    kill r0
    kill r1
    eval_dim r3, e0, [r2]
    return r3
}
// ---- expect
prim(5)

// RUN: ingot-rt run --input "5xf32=1 2 3 4 5" --input "2xf32=1 2"
func @main exported params 2 captures 0 registers 4 {
  vars n
  signature fn(Tensor[(n * 2,), float32], Tensor[(n,), float32]) -> Prim[int64]
  names "x", "y"
  check t0 = (Tensor[(n * 2,), float32], Tensor[(n,), float32]) binds (1)
  code
    check_params t0, [r2]
    kill r0
    kill r1
    return r2
}
// ---- expect error
error[ShapeMismatch]: @main: %x has dimension 0 = 5, expected n * 2 = 4 (n = 2)

// RUN: ingot-rt run --input "5xf32=1 2 3 4 5" --input "2xf32=1 2"
func @main exported params 2 captures 0 registers 4 {
  vars n
  signature fn(Tensor[(n,), float32], Tensor[(n,), float32]) -> Prim[int64]
  names "x", "y"
  check t0 = (Tensor[(n,), float32], Tensor[(n,), float32]) binds (1)
  code
    check_params t0, [r2]
    kill r0
    kill r1
    return r2
}
// ---- expect error
error[ShapeMismatch]: @main: %y has dimension 0 = 2, expected n = 5

// RUN: ingot-rt run --input "2x3xf32=1 2 3 4 5 6"
func @main exported params 1 captures 0 registers 4 {
  vars n, m
  signature fn(Object) -> Prim[int64]
  names "x"
  check t0 = Tensor[(n, m), float32] binds (1, 1)
  code
    check_value r0, t0, [r1, r2]
    kill r0
    return r2
}
// ---- expect
prim(3)

// RUN: ingot-rt run --input "3xf32=1 2 3"
func @main exported params 1 captures 0 registers 4 {
  vars n, m
  signature fn(Object) -> Prim[int64]
  names "x"
  check t0 = Tensor[(n, m), float32] binds (1, 1)
  code
    check_value r0, t0, [r1, r2]
    kill r0
    return r2
}
// ---- expect error
error[CastFailed]: the value has rank 1 (shape (3,)), expected 2 (Tensor[(n, m), float32])
