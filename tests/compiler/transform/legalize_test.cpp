#include <gtest/gtest.h>

#include "compiler/transform/transforms.h"
#include "tests/compiler/transform/compile_text.h"

namespace ingot::transform {
namespace {

TEST(Legalize, MultilayerPerceptron) {
  EXPECT_EQ(after(R"(
def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(4, 3), float32], %b: Tensor[(3,), float32]) {
  let %y = matmul(%x, %w);
  let %z = relu(add(%y, %b));
  reshape(%z, shape(n * 3))
}
)",
                  {legalize}),
            R"(def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(4, 3), float32], %b: Tensor[(3,), float32]) {
  let %y = call_kernel(%x, %w, Tensor[(n, 3), float32], kernel="matmul");
  let %t = call_tir(@add, (%y, %b), Tensor[(n, 3), float32]);
  let %z = call_tir(@relu, (%t,), Tensor[(n, 3), float32]);
  let %t_1 = view(%z, Tensor[(n * 3,), float32]);
  %t_1
}

private prim_func @add(x0: Buffer[(n, 3), float32], x1: Buffer[(3,), float32], y: Buffer[(n, 3), float32]) {
  for i0 in n parallel {
    for i1 in 3 {
      y[i0, i1] = x0[i0, i1] + x1[i1];
    }
  }
}

private prim_func @relu(x0: Buffer[(n, 3), float32], y: Buffer[(n, 3), float32]) {
  for i0 in n parallel {
    for i1 in 3 {
      y[i0, i1] = max(x0[i0, i1], 0f32);
    }
  }
}
)");
}

TEST(Legalize, ScalarsKeepTheirOperators) {
  EXPECT_EQ(after(R"(
def @main(%x: int32, %y: int32) {
  if (%x < %y) { %x / %y } else { cast(%x, "int32") }
}
)",
                  {legalize}),
            R"(def @main(%x: Tensor[(), int32], %y: Tensor[(), int32]) {
  let %t = less(%x, %y);
  let %t_1 = if (%t) {
    let %t_2 = divide(%x, %y);
    %t_2
  } else {
    let %t_3 = cast(%x, dtype=int32);
    %t_3
  };
  %t_1
}
)");
}

TEST(Legalize, TuplesAndCompositions) {
  EXPECT_EQ(after(R"(
def @main(%p: (Tensor[(n,), float32], Tensor[(n,), float32])) {
  let %s = stack(%p, axis=1);
  let %b = broadcast_to(%s, shape(m * 2, n, 2));
  zeros(shape=(2, 3))
}
)",
                  {legalize}),
            R"(def @main(%p: (Tensor[(n,), float32], Tensor[(n,), float32])) {
  let %t = %p.0;
  let %t_1 = view(%t, Tensor[(n, 1), float32]);
  let %t_2 = %p.1;
  let %t_3 = view(%t_2, Tensor[(n, 1), float32]);
  let %s = call_tir(@concat, (%t_1, %t_3), Tensor[(n, 2), float32]);
  let %b = call_tir(@broadcast_to, (%s,), Tensor[(m * 2, n, 2), float32]);
  let %t_4 = call_tir(@zeros, (), Tensor[(2, 3), float32]);
  %t_4
}

private prim_func @concat(x0: Buffer[(n, 1), float32], x1: Buffer[(n, 1), float32], y: Buffer[(n, 2), float32]) {
  for i in n parallel {
    for i_1 in 1 {
      y[i, i_1] = x0[i, i_1];
    }
  }
  for i in n parallel {
    for i_1 in 1 {
      y[i, 1 + i_1] = x1[i, i_1];
    }
  }
}

private prim_func @broadcast_to(x0: Buffer[(n, 2), float32], y: Buffer[(d0, n, 2), float32]) {
  for i0 in d0 parallel {
    for i1 in n {
      for i2 in 2 {
        y[i0, i1, i2] = x0[i1, i2];
      }
    }
  }
}

private prim_func @zeros(y: Buffer[(2, 3), float32]) {
  for i0 in 2 parallel {
    for i1 in 3 {
      y[i0, i1] = 0f32;
    }
  }
}
)");
}

}  // namespace
}  // namespace ingot::transform
