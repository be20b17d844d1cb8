Tuples, closures, shapes and strings: all of them leave the session.

// RUN: ingot-rt run --input "3xf32=1 2 3"
const c0 = string "text"
const c1 = tensor float32 (2,) {5, 6}
func @main exported params 1 captures 0 registers 10 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Object
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  code
    check_params t0, [r1]
    own r2, r0
    make_closure r3, @pick, [r2]
    load_dim r5, 7
    copy r4, r3
    call_value r5, r4, 1
    load_const r6, c0
    load_const r7, c1
    load_dim r8, 4
    make_shape r8, [r1, r8]
    make_tuple r9, [r5, r6, r7, r8, r3]
    return r9
}
func @pick params 1 captures 1 registers 4 {
  signature fn(Prim[int64]) -> Object
  check t0 = (Prim[int64], Tensor[ndim=1, float32]) binds ()
  code
    check_params t0, []
    own r1, r1
    make_tuple r2, [r0, r1]
    return r2
}
// ---- expect
(prim(7), 3xf32=1 2 3)
text
2xf32=5 6
shape(3, 4)
<closure>

// RUN: ingot-rt run --input "3xf32=1 2 3"
func @main exported params 1 captures 0 registers 4 {
  signature fn(Object) -> Object
  names "x"
  code
    own r1, r0
    make_tuple r2, [r1]
    get_field r3, r2, 1
    kill r2
    return r3
}
// ---- expect error
error[IndexOutOfRange]: projection .1 of a tuple with 1 fields

// RUN: ingot-rt run --input "i32=1" --input "f32=2"
func @main exported params 2 captures 0 registers 4 {
  signature fn(Object, Tensor[(), float32]) -> Tensor[(), float32]
  names "a", "b"
  check t0 = (Object, Tensor[(), float32])
  code
    check_params t0, []
    own r0, r0
    make_tuple r2, [r0, r1]
    get_scalar r3, r2, 1, float32
    kill r2
    return r3
}
// ---- expect
f32=2

// RUN: ingot-rt run --input "i32=1"
func @main exported params 1 captures 0 registers 4 {
  signature fn(Object) -> Tensor[(), float32]
  names "a"
  code
    own r0, r0
    make_tuple r2, [r0]
    get_scalar r3, r2, 0, float32
    kill r2
    return r3
}
// ---- expect error
error[CastFailed]: field 0 is a tensor () of int32, the annotation says a tensor () of float32
at @main, unit 7

// RUN: ingot-rt run
func @main exported params 0 captures 0 registers 4 {
  signature fn() -> Tensor[(), float32]
  code
    make_tuple r2, []
    get_scalar r3, r2, 0, float32
    kill r2
    return r3
}
// ---- expect error
error[IndexOutOfRange]: projection .0 of a tuple with 0 fields
at @main, unit 3

// RUN: ingot-rt verify
func @main exported params 1 captures 0 registers 4 {
  signature fn(Object) -> Tensor[(), float32]
  names "a"
  code
    get_scalar r3, r0, 0, float32
    kill r0
    return r3
}
// ---- expect error
error[CorruptFile]: objects.asm: function 'main': unit 0 (get_scalar): r0 holds any value, not Tuple
