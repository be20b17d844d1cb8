Kernels: memory of the arena, and shapes that are known at run time only. PackedFuncs.

// RUN: ingot-rt run --input "3xf32=1 2 3"
// RUN: ingot-rt run --input "1xf32=4"
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k { B[i] = A[i] * 2f32; }
}
kernel k0 = prim_func 1 -> 1 of 0
func @main exported params 1 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  storage s0 = float32 (n,)
  code
    check_params t0, [r1]
    plan [r1]
    alloc_tensor r2, s0
    call_kernel k0, [r0, r2]
    kill r0
    alloc_tensor r3, s0
    call_kernel k0, [r2, r3]
    new_tensor r4, s0
    call_kernel k0, [r3, r4]
    return r4
}
// ---- expect
3xf32=8 16 24
1xf32=32

// RUN: ingot-rt run --input "2x2xf32=1 2 3 4"
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k { B[i] = A[i] * 2f32; }
}
kernel k0 = prim_func 1 -> 1 of 0
func @main exported params 1 captures 0 registers 6 {
  vars n, m
  signature fn(Tensor[(n, m), float32]) -> Tensor[ndim=1, float32]
  names "x"
  check t0 = (Tensor[(n, m), float32],) binds (1, 1)
  expr e0 = n * m
  code
    check_params t0, [r1, r2]
    eval_dim r3, e0, [r1, r2]
    own r0, r0
    new_view r4, r0, [r3]
    new_tensor_dyn r5, float32, [r3]
    call_kernel k0, [r4, r5]
    kill r0
    kill r4
    return r5
}
// ---- expect
4xf32=2 4 6 8

// RUN: ingot-rt run --input "3xf32=1 2 3" --memory-limit 64
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k { B[i] = A[i] * 2f32; }
}
kernel k0 = prim_func 1 -> 1 of 0
func @main exported params 1 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  storage s0 = float32 (n,)
  code
    check_params t0, [r1]
    plan [r1]
    new_tensor r4, s0
    call_kernel k0, [r0, r4]
    kill r0
    return r4
}
// ---- expect error
error[ResourceExhausted]

// RUN: ingot-rt run --input "3xf32=1 2 3"
import "my.func" writes []
func @main exported params 1 captures 0 registers 4 {
  signature fn(Object) -> Object
  names "x"
  code
    own r1, r0
    call_packed r2, "my.func", [r1]
    kill r1
    return r2
}
// ---- expect error
error[NotAllowed]: my.func: the host does not allow this PackedFunc (--allow my.func)

// RUN: ingot-rt run --input "3xf32=1 2 3"
import "ingot.print" writes []
import "ingot.identity" writes []
func @main exported params 1 captures 0 registers 4 {
  signature fn(Object) -> Object
  names "x"
  code
    own r1, r0
    call_packed r2, "ingot.print", [r1, r1]
    kill r2
    call_packed r2, "ingot.identity", [r1]
    kill r1
    return r2
}
// ---- expect
3xf32=1 2 3 3xf32=1 2 3
3xf32=1 2 3

// RUN: ingot-rt run --input "2xf32=1 2"
import "ingot.identity"
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k { B[i] = A[i] * 2f32; }
}
kernel k0 = prim_func 1 -> 1 of 0
func @main exported params 1 captures 0 registers 5 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Object
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  storage s0 = float32 (n,)
  code
    check_params t0, [r1]
    plan [r1]
    alloc_tensor r2, s0
    call_kernel k0, [r0, r2]
    call_packed r3, "ingot.identity", [r2]
    alloc_tensor r4, s0
    call_kernel k0, [r2, r4]
    call_kernel k0, [r4, r2]
    kill r0
    return r3
}
// ---- expect
2xf32=2 4
