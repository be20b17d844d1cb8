#include <set>

#include <gtest/gtest.h>

#include "tests/compiler/ops/test_call.h"

namespace ingot::ops {
namespace {

using ir::Effect;

const SymVar n = make_sym_var("n"), m = make_sym_var("m");

std::vector<int64_t> ints(std::initializer_list<int64_t> values) { return values; }

TEST(OpTable, NamesAndAliasesAreUnique) {
  std::set<std::string_view> names;
  for (const auto& op : all()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    for (const auto alias : op.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
    EXPECT_FALSE(op.summary.empty()) << op.name;
  }
  EXPECT_EQ(find("nn.softmax"), find("softmax"));
  EXPECT_EQ(find("concatenate"), find("concat"));
  EXPECT_EQ(find("no_such_operator"), nullptr);
}

TEST(Infer, BroadcastsAsNumPyDoes) {
  EXPECT_EQ(TestCall("add", {f32({2, 1, 4}), f32({3, 1})}).infer(), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(TestCall("add", {f32({n, 4}), f32({4})}).infer(), "Tensor[(n, 4), float32]");
  EXPECT_EQ(TestCall("add", {f32({n}), f32({1})}).infer(), "Tensor[(n,), float32]");
  EXPECT_EQ(TestCall("add", {f32({n}), f32({5})}).infer(), "Tensor[(5,), float32]");
  EXPECT_EQ(TestCall("less", {f32({n}), f32({})}).infer(), "Tensor[(n,), bool]");
  EXPECT_EQ(TestCall("add", {f32({2, 3}), f32({4})}).infer(),
            "ShapeMismatch: add: dimension -1 does not fit: %a has 3, %b has 4; dimensions must be equal or 1");
  EXPECT_EQ(TestCall("add", {f32({3}), i64({3})}).infer(),
            "TypeError: add: dtypes differ: %a is float32, %b is int64; convert one with cast");
  EXPECT_EQ(TestCall("exp", {i64({3})}).infer(),
            "TypeError: exp: %a must be of a float dtype, it is int64; convert it with cast");
  EXPECT_EQ(TestCall("exp", {tensor_info(DType::Float32)}).infer(),
            "TypeError: exp: the shape of %a is not known; annotate it or use match_cast");
}

TEST(Infer, ChecksArgumentsAndAttributes) {
  EXPECT_EQ(TestCall("add", {f32({2})}).infer(), "ArityMismatch: add: it takes 2 arguments, 1 are given");
  EXPECT_EQ(TestCall("cast", {}).infer(), "ArityMismatch: cast: it takes 1 to 2 arguments, 0 are given");
  EXPECT_EQ(TestCall("softmax", {f32({2})}, {{"axes", int64_t{0}}}).infer(),
            "InvalidArgument: softmax: there is no attribute axes; attributes are: axis");
}

TEST(Infer, KnowsWhatMayFail) {
  EXPECT_EQ(TestCall("add", {f32({n}), f32({n})}).effect(), Effect::Total);
  EXPECT_EQ(TestCall("add", {f32({n}), f32({m})}).effect(), Effect::MayFail);
  EXPECT_EQ(TestCall("divide", {f32({n}), f32({n})}).effect(), Effect::Total);
  EXPECT_EQ(TestCall("divide", {i64({n}), i64({n})}).effect(), Effect::MayFail);
  EXPECT_EQ(TestCall("take", {f32({n}), i64({3})}, {{"axis", int64_t{0}}}).effect(), Effect::MayFail);
  EXPECT_EQ(TestCall("bias_add", {f32({2, n}), f32({m})}).effect(), Effect::MayFail);
}

TEST(Infer, Reductions) {
  EXPECT_EQ(TestCall("sum", {f32({n, 3, 4})}).infer(), "Tensor[(), float32]");
  EXPECT_EQ(TestCall("sum", {f32({n, 3, 4})}, {{"axis", int64_t{-1}}, {"keepdims", true}}).infer(),
            "Tensor[(n, 3, 1), float32]");
  EXPECT_EQ(TestCall("mean", {f32({n, 3, 4})}, {{"axis", ints({0})}, {"exclude", true}}).infer(),
            "Tensor[(n,), float32]");
  EXPECT_EQ(TestCall("argmax", {f32({n, 3})}, {{"axis", int64_t{1}}}).infer(), "Tensor[(n,), int64]");
  EXPECT_EQ(TestCall("sum", {f32({2})}, {{"axis", int64_t{1}}}).infer(),
            "IndexOutOfRange: sum: axis 1 lies outside of a tensor of rank 1");
}

TEST(Infer, Products) {
  EXPECT_EQ(TestCall("matmul", {f32({n, 784}), f32({784, 10})}).infer(), "Tensor[(n, 10), float32]");
  EXPECT_EQ(TestCall("matmul", {f32({7, 1, n, 4}), f32({5, 4, 6})}).infer(), "Tensor[(7, 5, n, 6), float32]");
  EXPECT_EQ(TestCall("matmul", {f32({4}), f32({4})}).infer(), "Tensor[(), float32]");
  EXPECT_EQ(TestCall("nn.dense", {f32({n, 784}), f32({10, 784})}).infer(), "Tensor[(n, 10), float32]");
  EXPECT_EQ(TestCall("matmul", {f32({n, 784}), f32({512, 10})}).infer(),
            "ShapeMismatch: matmul: inner dimensions differ: %a has 784, %b has 512");
}

TEST(Infer, Shapes) {
  EXPECT_EQ(TestCall("reshape", {f32({n, 4}), shape_info({PrimExpr(n) * 4})}).infer(), "Tensor[(n * 4,), float32]");
  EXPECT_EQ(TestCall("reshape", {f32({n, 4})}, {{"newshape", ints({0, 2, -1})}}).infer(), "Tensor[(n, 2, 2), float32]");
  EXPECT_EQ(TestCall("reshape", {f32({2, 6})}, {{"newshape", ints({5, 2})}}).infer(),
            "ShapeMismatch: reshape: %a has 12 elements, the new shape (5, 2) has 10");
  EXPECT_EQ(TestCall("batch_flatten", {f32({n, 3, 4})}).infer(), "Tensor[(n, 12), float32]");
  EXPECT_EQ(TestCall("squeeze", {f32({1, n, 1})}).infer(), "Tensor[(n,), float32]");
  EXPECT_EQ(TestCall("expand_dims", {f32({n})}, {{"axis", ints({0, 2})}}).infer(), "Tensor[(1, n, 1), float32]");
  EXPECT_EQ(TestCall("transpose", {f32({n, 3, 4})}).infer(), "Tensor[(4, 3, n), float32]");
  EXPECT_EQ(TestCall("concat", {tuple_info({f32({n, 2}), f32({n, 3})})}, {{"axis", int64_t{1}}}).infer(),
            "Tensor[(n, 5), float32]");
  EXPECT_EQ(TestCall("concat", {tuple_info({f32({3, 2}), f32({4, 3})})}, {{"axis", int64_t{1}}}).infer(),
            "ShapeMismatch: concat: dimensions 0 differ: field 0 of %a has 3, field 1 of %a has 4");
  EXPECT_EQ(TestCall("split", {f32({6, n})}, {{"indices_or_sections", int64_t{2}}}).infer(),
            "(Tensor[(3, n), float32], Tensor[(3, n), float32])");
  EXPECT_EQ(TestCall("split", {f32({6})}, {{"indices_or_sections", ints({2})}}).infer(),
            "(Tensor[(2,), float32], Tensor[(4,), float32])");
  EXPECT_EQ(TestCall("strided_slice", {f32({10})}, {{"begin", ints({-3})}, {"end", ints({100})}}).infer(),
            "Tensor[(3,), float32]");
  EXPECT_EQ(TestCall("broadcast_to", {f32({1, 4}), shape_info({n, 4})}).infer(), "Tensor[(n, 4), float32]");
}

TEST(Infer, Networks) {
  const ir::Attrs conv = {{"strides", ints({2, 2})}, {"padding", ints({3, 3})}};
  EXPECT_EQ(TestCall("nn.conv2d", {f32({n, 3, 224, 224}), f32({64, 3, 7, 7})}, conv).infer(),
            "Tensor[(n, 64, 112, 112), float32]");
  EXPECT_EQ(TestCall("nn.conv2d", {f32({1, 4, 8, 8}), f32({64, 3, 7, 7})}, conv).infer(),
            "ShapeMismatch: conv2d: input channels differ: %a has 4, %b has 3");
  const ir::Attrs pool = {{"pool_size", ints({3, 3})}, {"strides", ints({2, 2})}, {"ceil_mode", true}};
  EXPECT_EQ(TestCall("nn.max_pool2d", {f32({1, 8, 112, 112})}, pool).infer(), "Tensor[(1, 8, 56, 56), float32]");
  EXPECT_EQ(TestCall("nn.batch_norm", {f32({1, 8, 2, 2}), f32({8}), f32({8}), f32({8}), f32({8})}).infer(),
            "(Tensor[(1, 8, 2, 2), float32], Tensor[(8,), float32], Tensor[(8,), float32])");
  EXPECT_EQ(TestCall("bias_add", {f32({1, 8, 2, 2}), f32({7})}).infer(),
            "ShapeMismatch: bias_add: channels differ: %a has 8, %b has 7");
}

}  // namespace
}  // namespace ingot::ops
