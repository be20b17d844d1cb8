The forms of inputs and outputs.

// RUN: ingot-rt run --input "x=2xf32=1 2" --input "s=shape(3, 4)"
// RUN: ingot-rt run --input "shape(3, 4)" --input "x=2xf32=1, 2"
func @main exported params 2 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32], Shape[ndim=2]) -> Object
  names "x", "s"
  check t0 = (Tensor[(n,), float32], Shape[ndim=2]) binds (1)
  code
    check_params t0, [r2]
    own r0, r0
    own r1, r1
    make_tuple r3, [r0, r1]
    return r3
}
// ---- expect
2xf32=1 2
shape(3, 4)
2xf32=1 2
shape(3, 4)

// RUN: ingot-rt run --input "2xf32=1 2" --input "shape(3, 4)"
// RUN: ingot-rt run --input "2xf32=1 2" --input "shape(3, 4)" --output %t/y.npy
// RUN: ingot-rt run --input "x=@%t/y.npy" --input "shape(3, 4)" --expected %t/y.npy
// RUN: ingot-rt run --input "x=@%t/y.npy" --input "shape(3, 4)" --expected "2xf32=1 2.0001"
// RUN: ingot-rt run --input "x=@%t/y.npy" --input "shape(3, 4)" --json
func @main exported params 2 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32], Shape[ndim=2]) -> Object
  names "x", "s"
  check t0 = (Tensor[(n,), float32], Shape[ndim=2]) binds (1)
  code
    check_params t0, [r2]
    own r0, r0
    own r1, r1
    make_tuple r3, [r0, r1]
    return r3
}
// ---- expect
2xf32=1 2
shape(3, 4)
output 0: all 2 elements match (largest error 0, relative 0)
output 0: all 2 elements match (largest error 9.99e-05, relative 4.99e-05)
{"outputs":[{"dims":[2],"dtype":"float32","elements":[1.0,2.0]},{"text":"shape(3, 4)"}]}

// RUN: ingot-rt run --input "2xf32=1 2" --input "shape(3, 4)" --expected "2xf32=1 3"
func @main exported params 2 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32], Shape[ndim=2]) -> Object
  names "x", "s"
  check t0 = (Tensor[(n,), float32], Shape[ndim=2]) binds (1)
  code
    check_params t0, [r2]
    own r0, r0
    own r1, r1
    make_tuple r3, [r0, r1]
    return r3
}
// ---- expect error
error[WrongResult]: output 0: 1 of 2 elements differ: the first at (1,) is 2 and should be 3; largest error 1, relative 0.333

// RUN: ingot-rt run --input "2xf32=1 2"
func @main exported params 2 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32], Shape[ndim=2]) -> Object
  names "x", "s"
  check t0 = (Tensor[(n,), float32], Shape[ndim=2]) binds (1)
  code
    check_params t0, [r2]
    own r0, r0
    own r1, r1
    make_tuple r3, [r0, r1]
    return r3
}
// ---- expect error
error[InvalidArgument]: @main: input s is missing; it is Shape[ndim=2]

// RUN: ingot-rt run --input "y=2xf32=1 2"
func @main exported params 2 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32], Shape[ndim=2]) -> Object
  names "x", "s"
  check t0 = (Tensor[(n,), float32], Shape[ndim=2]) binds (1)
  code
    check_params t0, [r2]
    own r0, r0
    own r1, r1
    make_tuple r3, [r0, r1]
    return r3
}
// ---- expect error
error[InvalidArgument]: @main has no parameter y; it has x, s

// RUN: ingot-rt run --input "x=2xf32=1 2 3"
func @main exported params 2 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32], Shape[ndim=2]) -> Object
  names "x", "s"
  check t0 = (Tensor[(n,), float32], Shape[ndim=2]) binds (1)
  code
    check_params t0, [r2]
    own r0, r0
    own r1, r1
    make_tuple r3, [r0, r1]
    return r3
}
// ---- expect error
error[InvalidArgument]: input x:

// RUN: ingot-rt run --function other
func @main exported params 2 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32], Shape[ndim=2]) -> Object
  names "x", "s"
  check t0 = (Tensor[(n,), float32], Shape[ndim=2]) binds (1)
  code
    check_params t0, [r2]
    own r0, r0
    own r1, r1
    make_tuple r3, [r0, r1]
    return r3
}
// ---- expect error
error[InvalidArgument]: there is no function @other; the executable exports @main

// RUN: ingot-rt run --no-such-option
func @main exported params 2 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32], Shape[ndim=2]) -> Object
  names "x", "s"
  check t0 = (Tensor[(n,), float32], Shape[ndim=2]) binds (1)
  code
    check_params t0, [r2]
    own r0, r0
    own r1, r1
    make_tuple r3, [r0, r1]
    return r3
}
// ---- expect error
error[InvalidArgument]:
