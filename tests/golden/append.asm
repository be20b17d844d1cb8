meta "producer" = "ingot 0.1.0"

func @main exported params 1 captures 0 registers 5 {
  signature fn(Tensor[(), int32]) -> Object
  names "x"
  check t0 = (Tensor[(), int32],)
  code
    check_params t0, []
    copy r1, r0
    make_tuple r2, [r1]
    copy r3, r2
    copy r1, r0
    append r4, r3, r1
    copy r1, r0
    append r3, r4, r1
    make_tuple r4, [r2, r3]
    return r4
}
