meta "producer" = "ingot 0.1.0"
meta "source" = "constant_weights.onnx"
const c0 = tensor float32 (8, 4, 3, 3) base64 "CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8CtejPArXozwK16M8"
const c1 = tensor float32 (8,) {0, 0, 0, 0, 0, 0, 0, 0}
const c2 = tensor float32 (8,) {3.5346503, 3.5346503, 3.5346503, 3.5346503, 3.5346503, 3.5346503, 3.5346503, 3.5346503}
const c3 = tensor float32 (8,) {0.32930702, 0.32930702, 0.32930702, 0.32930702, 0.32930702, 0.32930702, 0.32930702, 0.32930702}
const c4 = tensor float32 (6, 8, 3, 3) base64 "V2ERuyM0G7648Q88KZ2APF77Sr7QVwI9WC6OPb8Nzz2+2Ic9T/bMvT9mQL6TLcu9ApJDPtVMJD4SNJw8LUMMvNzaQD5D1k+9ZVyTvX8V5zvX/Kc+Fj3APCH6KjwAMTE+qNOXPoKDfr715Pk8g+invWOjtT422TA9JA2Ivctdhb5p8LM9pTMXPFZOrD4vrNq8Dmh2PThpBj7rA62+v8Xgu7mGpL4kUWs9xWqavkrRbr5mdD49W5UyO7yZbb4xwpk8uvGXvUerx73OIzO+J5JFPocEF757W9I9Y4IFvqqx8j7Q1gm+jdxhPTMrRT7jPYG+9wQDvnDD6L2J/Cw9+d0zPmXgnD6EFIw++c6ZPZJwaLwiddQ8AJJhvgi0KT5QsAe+hcS9PX8JPT2oYOo9C60gPg1/3j1fwui9LXkevbGAjb7H2Vm+1ecpvWRvJD7cEPS9eS8WPAF/wz0b+Y0+GluvvZ+k7r2MYW2+/DwCP+lg7r364fM+4jGHvmiuk72hZjM91Ya2vh33ub7mNC++976NPZE0Pb52tD++8Tg8PrbRJb7ZOt09pB1VPZ7xtL7Q1Lq+u82dPllftrytGqe9tQAzPoYatr1wChI+zH/mPcJ3bL2Po5++qR0Evgkstj2oBVw8dXAdPvq1kb4ru8K+oXhEPfWgRr7eynE+9mPbvdkJBb5uto6+wybfPZueirz4rj6+DZMLPkxdzjwgHZi9ztj3vdJelL7Ydts9z6sZPcayjD0Q/ZU9OT4BvkoZVr69HIC96AjJvEJvLr0aqA4+o7CwvuzzPD1H0Uq8R6MrvWP7Ir70yqq9z/OBuudGgb1SfMk9p73bPUboij0gxRc+PJzVPQyYxT0L6QI+CQ4WPj+9+zwlwOo9jZ2uPQr4qT27gzm+aGpJPqg7rT3/3/89eQ2rPmPp7ry1TgE+NAExPmBFqT55mEK9sLI0vg6+Fz03SRe+ZLIXPvZ1lr3KIY6+eGOgu32Cdb7BjVI9CP4BvpspqL3p3x+9cJzLPP+uVb3D4PE9qUu7vXDzOT2oik0+gqKxPQLxhr51J7C93t2nPtrfn75st7+9I9WMPgBp7T1w8t+9v+g7vSbh173vtt+97yqxPVfLuz4IvIW9VPl7PMN/Br56Whs+PEm4Pf279zxX9CQ+Vn0OvvPHAD523BW+/D+gvbn83b1lsbo8SD77vRmBcb7HY1o9z06IPty28b0Oy6++nO5HvYGEHL5yLy2+VtiGvsWVC74F556+m5YDvq1fNz0cOjS+xq9evSCDPr4zxpU99vJMvScVoD01TOW9kx7KPhVurL7GYjG+PVaKPh8iFz7eLB0+KJtpPqnjCD5aLm4+uO8avg6OVz0BQIy+90NjPT4IXj62Fki890QKPnUirjwINQq8hweavjUztz0ojo89Ih0aPrcEST5jwzM9irCSvup7i72u9zQ8G4OEPrzICr6qHUq+L4eBPb10q74dZ1++qM6rvStNgT6bmOa9uyVAvqnYFr7lBuq9YxyFPoDlib0Ll8W+q1SSPrWWqjxtpqa9Hp8+viNnjL15UnY9FYndPR/SDb6IsAu+/EGFPOoKWj3Kqna+BDKJvRqeCr8x8Ru9gqY5vXikTT2qIlC9nuKKPqxdmz69lKY+LJl0PHifvT0Qs2g+kom2PeVrrD3FDLW9YRAcvhnfsT0v82I+L3UEPiugfb48KxQ+Xav6vTLtFz16gsE92pubPIu4AT2j1im92U8KPqp6HD1PEsS9KE4+PhKKNL3X1Ao+1n0Nvl+VAD4eOgg88u2wPScrUr0O32y+Ay5dvWL9yb14qUk+wN2nvjFi4T0Syr+9y+4RvkJKUb4ODmo+TCyZPT9GP750oNu78oEfvsvVtT7ZUeY+a9SgPZAp3r1YMg+90OEWPsM5Nr4r94o+sWBXPnqciz4MsyG+TRy3Pb+twb1ETPY9IXaSvgqmqTvZ8VC+XJkePrsUkD47yiO+MG8qPqbdm7wdQIk9m/AoPa0cfr3om0M8XtUtPjzISz568tO+DbtBvlgfObw6aG095LitPjD9B77o0+29i1q9vep9ir0dIj2+dlraPafobb4a2HS9UdN8PXo0u72UfT+7fsUpvvpRmL6z5yE+lvHUvXXJEj40R6m+E/EnPv1DRz1ppt+8JjsPPS7tBz3XO3y+SprlvVaNWr2+etm9673RPeD7iDvltKM9SL3nPYCfg7yrwUW+EbbvPDayXL7EeJS+TvvLvX+BPr7xxZO+T7qKvYd71T7WZbU94hgIvpG2nz5yLea9VygKuxHlt72uGS69dWIOvjgXUbwTzhG+"
const c5 = tensor float32 (6,) {0.003416281, 0.12830248, -0.10251817, -0.0940337, 0.09009253, 0.22063456}
const c6 = tensor float32 (10, 6) base64 "gDqZPvl0lr9qyhrAwefvv19O7T9ULy2/kkH2PzI8yb6datm9746VvtoUCsDM68Y/Jt+FviviHz/tb4k+i2TDPUitSb6J6/U+fVp8P7nlVMCINqU//5fmvdx5vL/SXZg+XuB+P9KSwz06+9w/k6nHv6G/gb53FEC+iHyvvwMwUL+Wwiu/JVW3P4UyZD8p75a+EiWAP3wDyb7GNd29gyRevyMXdD+ePrW/05xTvSmCoj5Ip+A/L3UYwA4nNT9NCAhAhb6Cv3Od/r+D+le/BVWAP4Bs97/ivzS+MYufvyzvMz8rMcY+DNFCvyWv3j6d7oc/"
const c7 = tensor float32 (10,) {0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02}
kernel k0 = conv2d 3 -> 1 {dilation=[1, 1], groups=1, has_bias=1, padding=[1, 1, 1, 1], strides=[1, 1]} [relu(0.0, 0.0)]
kernel k1 = scale_shift 3 -> 1
kernel k2 = conv2d 3 -> 1 {dilation=[1, 1], groups=1, has_bias=1, padding=[1, 1, 1, 1], strides=[2, 2]} [relu(0.0, 0.0)]
kernel k3 = pool2d 1 -> 1 {count_include_pad=0, dilation=[1, 1], mode=1, padding=[0, 0, 0, 0], strides=[1, 1], window=[6, 6]}
kernel k4 = matmul 3 -> 1 {has_bias=1, transpose_a=0, transpose_b=1}
kernel k5 = softmax 1 -> 1 {axis=1}

func @main exported params 1 captures 0 registers 4 {
  signature fn(Tensor[(1, 4, 12, 12), float32]) -> Tensor[(1, 10), float32]
  names "data_0"
  storage s0 = float32 (1, 8, 12, 12)
  storage s1 = float32 (1, 6, 6, 6)
  storage s2 = float32 (1, 6, 1, 1)
  storage s3 = float32 (1, 6)
  storage s4 = float32 (1, 10)
  check t0 = (Tensor[(1, 4, 12, 12), float32],)
  source "constant_weights.onnx"
  code
    check_params t0, []
    plan []
    load_const r1, c0
    load_const r2, c1
    alloc_tensor r3, s0
    call_kernel k0, [r0, r1, r2, r3]
    kill r0
    load_const r0, c2
    load_const r1, c3
    alloc_tensor r2, s0
    call_kernel k1, [r3, r0, r1, r2]
    load_const r0, c4
    load_const r1, c5
    alloc_tensor r3, s1
    call_kernel k2, [r2, r0, r1, r3]
    alloc_tensor r0, s2
    call_kernel k3, [r3, r0]
    alloc_view r1, r0, s3
    load_const r0, c6
    load_const r2, c7
    alloc_tensor r3, s4
    call_kernel k4, [r1, r0, r2, r3]
    new_tensor r0, s4
    call_kernel k5, [r3, r0]
    return r0
}
