#pragma once
#include <string_view>

// Programs in text form that tests of reading and verifying share.
namespace ingot::vm::test {

// Valid, and with something of everything: every table, every kind of constant, calls of all sorts, an arena, a loop.
inline constexpr std::string_view kEverything = R"(
meta "producer" = "test"
meta "source" = "1234"
import "ingot.log"
import "my.fill" writes [0]
const c0 = tensor float32 (2, 3) {1, 2, 3, 4, 5, 6.5}
const c1 = scalar int32 7
const c2 = string "it failed"
const c3 = none
const c4 = shape (2, 3)
const c5 = dtype float32
const c6 = prim float64 2.5
const c7 = tensor string (2,) {"a", "b"}
const c8 = scalar float32 bits 0x7fc00001
const c9 = tensor int8 (20,) base64 "AAECAwQFBgcICQoLDA0ODxAREhM="
const c10 = scalar bool 1
prim_func @scale(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {
  for i in k {
    B[i] = A[i] * 2f32;
  }
}
kernel k0 = prim_func 1 -> 1 of 0
kernel k1 = matmul 2 -> 1 {alpha=0.5, transpose_b=1} [relu, clip(0, 6)]

func @main exported impure params 2 captures 0 registers 12 {
  vars n
  signature impure fn(Tensor[(n,), float32], Tensor[(), bool]) -> Object
  names "x", "flag"
  storage s0 = float32 (n,)
  storage s1 = float32 (n, 1)
  check t0 = (Tensor[(n,), float32], Tensor[(), bool]) binds (1,)
  check t1 = Tensor[(n, 1), float32] binds (0)
  source "main.relax"
  code
    at 1:1
    check_params t0, [r2]
    plan [r2]
    at 2:3
    alloc_tensor r3, s0
    call_kernel k0, [r0, r3]
    alloc_view r4, r3, s1
    check_value r4, t1, [r2]
    new_tensor r5, s0
    call_kernel k0, [r3, r5]
    kill r0
    at 3:3
    jump_unless r1, L1
    load_const r6, c2
    call_packed r7, "ingot.log", [r6, r5]
    kill r7
    jump L2
  L1:
    call_packed r7, "my.fill", [r5]
    kill r7
  L2:
    alias r6, r5
    call r6, @sum_to
    at 4:3
    make_tuple r7, [r5, r6]
    return r7
}

func @sum_to params 1 registers 8 {
  signature fn(Object) -> Tensor[(), int32]
  code
    kill r0
    load_int r1, int32, 0
    load_const r2, c1
    load_int r3, int32, 1
  head:
    loop [r1 Scalar int32 uncounted, r2 Scalar int32 uncounted, r3 Scalar int32 kept]
    add.i32 r1, r1, r2
    sub.i32 r2, r2, r3
    less.i32 r4, r3, r2
    jump_if r4, head
    select r4, r4, r1, r2
    cast r4, r1, float64
    floor.f64 r4, r4
    cast r1, r4, int32
    return r1
}

func @closures exported params 1 registers 10 {
  signature fn(Object) -> Object
  code
    own r0, r0
    copy r1, r0
    load_none r2
    make_closure r3, @inner, [r1, r2]
    load_const r5, c0
    load_const r6, c4
    call_value r5, r3, 2
    kill r5
    load_import r6, "ingot.log"
    move r7, r0
    tail_call_value r7, r6, 1
}

func @inner params 2 captures 2 registers 10 {
  signature fn(Object, Shape[ndim=2]) -> Object
  check t0 = (Object, Shape[ndim=2])
  expr e0 = 2 * 3
  code
    check_params t0, []
    get_dim r4, r1, 0
    eval_dim r5, e0, []
    make_shape r6, [r4, r5]
    kill r6
    prim_to_scalar r6, r4
    scalar_to_prim r7, r6
    new_tensor_dyn r8, float32, [r4, r5]
    new_view r6, r8, [r5, r4]
    kill r8
    call_builtin r8, shape_of, [r6]
    kill r6
    kill r8
    kill r0
    kill r1
    kill r3
    own r0, r2
    load_dim r1, 5
    move r2, r0
    move r3, r1
    tail_call r2, @last
}

func @last params 2 registers 4 {
  signature fn(Object, Prim[int64]) -> Object
  code
    load_dim r2, 1
    kill r0
    new_scalar r3, bool
    and r3, r3, r3
    not r3, r3
    or r3, r3, r3
    make_tuple r0, [r2, r3]
    get_field r3, r0, 1
    kill r3
    get_scalar r3, r0, 1, bool
    kill r0
    fail 2, c2
}
)";

}  // namespace ingot::vm::test
