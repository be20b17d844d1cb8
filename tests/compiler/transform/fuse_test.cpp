#include <gtest/gtest.h>

#include "compiler/transform/transforms.h"
#include "tests/compiler/transform/compile_text.h"

namespace ingot::transform {
namespace {

TEST(FoldConstants, FollowsValuesThroughOperators) {
  EXPECT_EQ(after(R"(
def @main(%x: Tensor[(2, 1), float32]) {
  let %w = Constant([1, 2], (2,), float32);
  let %v = expand_dims(multiply(%w, %w), axis=1);
  let %d = Constant([1, 0], (2,), int32) / Constant([1, 0], (2,), int32);
  add(%x, %v)
}
)",
                  {fold_constants, eliminate_dead}),
            R"(def @main(%x: Tensor[(2, 1), float32]) {
  let %d = divide(Constant([1, 0], (2,), int32), Constant([1, 0], (2,), int32));
  let %t = add(%x, Constant([1.0, 4.0], (2, 1), float32));
  %t
}
)");
}

TEST(FoldBatchNorm, IntoConvolutionsAndScales) {
  EXPECT_EQ(after(R"(
def @main(%x: Tensor[(n, 1, 4, 4), float32]) {
  let %w = Constant([2, 3], (2, 1, 1, 1), float32);
  let %g = Constant([1, 2], (2,), float32);
  let %m = Constant([0.5, 1], (2,), float32);
  let %v = Constant([3, 0], (2,), float32);
  let %y = conv2d(%x, %w);
  let %t = nn.batch_norm(%y, %g, %g, %m, %v, epsilon=1.0);
  let %z = relu(%t.0);
  let %u = batch_norm(%z, %g, %g, %m, %v, epsilon=1.0);
  relu(%u)
}
)",
                  {fold_constants, fold_batch_norm}),
            R"(def @main(%x: Tensor[(n, 1, 4, 4), float32]) {
  let %t = conv2d(%x, Constant([1.0, 6.0], (2, 1, 1, 1), float32), Constant([0.75, 0.0], (2,), float32));
  let %z = relu(%t);
  let %u = scale_shift(%z, Constant([0.5, 2.0], (2,), float32), Constant([0.75, 0.0], (2,), float32));
  let %t_1 = relu(%u);
  %t_1
}
)");
}

TEST(FuseLibraryKernels, BiasResidualAndActivation) {
  EXPECT_EQ(
      after(R"(
def @main(%x: Tensor[(n, 1, 4, 4), float32], %w: Tensor[(2, 1, 1, 1), float32], %b: Tensor[(2,), float32]) {
  let %y = bias_add(conv2d(%x, %w), %b);
  let %a = relu(%y);
  let %c = conv2d(%a, Constant([1, 2, 3, 4], (2, 2, 1, 1), float32));
  let %s = relu(add(%c, %a));
  let %t = add(%s, %s);
  let %m = add(matmul(batch_flatten(%t), zeros(shape=(32, 3))), Constant([1, 2, 3], (3,), float32));
  softmax(%m)
}
)",
            {fuse_library_kernels}),
      R"(def @main(%x: Tensor[(n, 1, 4, 4), float32], %w: Tensor[(2, 1, 1, 1), float32], %b: Tensor[(2,), float32]) {
  let %a = call_kernel(%x, %w, %b, Tensor[(n, 2, 4, 4), float32], kernel="conv2d", post_ops="relu");
  let %s = call_kernel(%a, Constant([1.0, 2.0, 3.0, 4.0], (2, 2, 1, 1), float32), %a, Tensor[(n, 2, 4, 4), float32], kernel="conv2d", post_ops="add, relu");
  let %t = call_kernel(%s, %s, Tensor[(n, 2, 4, 4), float32], kernel="binary_add");
  let %t_1 = batch_flatten(%t);
  let %t_2 = zeros(shape=(32, 3));
  let %m = call_kernel(%t_1, %t_2, Constant([1.0, 2.0, 3.0], (3,), float32), Tensor[(n, 3), float32], kernel="matmul");
  let %t_3 = softmax(%m);
  %t_3
}
)");
}

}  // namespace
}  // namespace ingot::transform
