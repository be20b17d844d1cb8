#include "runtime/tir/nest.h"

#include <gtest/gtest.h>

#include "functions.h"
#include "runtime/base/error.h"
#include "runtime/tir/text.h"
#include "runtime/tir/vectorize.h"

namespace ingot::tir {
namespace {

using Shapes = std::vector<std::vector<int64_t>>;

const NestLoop& loop_of(const std::vector<NestStmt>& body, size_t position = 0) {
  return std::get<NestLoop>(body.at(position).node);
}

// y[...] = f(x[order...]) over three dimensions.
PrimFunc permute_func(const std::vector<size_t>& order) {
  std::vector<PrimExpr> dims = {make_sym_var("a"), make_sym_var("b"), make_sym_var("c")};
  FuncBuilder f("permute");
  std::vector<PrimExpr> source(3);
  for (size_t d = 0; d < 3; ++d) source[order[d]] = dims[d];
  const BufferId x = f.input("x", DType::Float32, source);
  const BufferId y = f.output("y", DType::Float32, dims);
  f.compute(y, [&](const Indices& i) {
    Indices at(3);
    for (size_t d = 0; d < 3; ++d) at[order[d]] = i[d];
    return f.load(x, at);
  });
  return f.finish();
}

// A file of unknown origin may declare more than the tensor has.
TEST(Nest, DimensionsThatScalarsTellAreCompared) {
  size_t offset = 0;
  const PrimFunc func =
      parse("prim_func @f(A: Buffer[(n * 2,), float32], B: Buffer[(n * 130,), float32], n: int64) { }", offset);
  const std::vector<std::vector<int64_t>> dims{{6}, {6}};
  try {
    make_nest(func, dims, std::vector<int64_t>{3});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::ShapeMismatch);
    EXPECT_STREQ(error.what(), "f: dimension 0 of B is 6, expected n * 130 = 390");
  }
}

TEST(Nest, LoopsThatRunThroughMemoryBecomeOne) {
  const Nest copied = make_nest(permute_func({0, 1, 2}), Shapes{{2, 3, 4}, {2, 3, 4}}, {});
  EXPECT_TRUE(loop_of(copied.body).extent.is_const(24));
  EXPECT_FALSE(has_inner_loop(loop_of(copied.body).body));
  const Nest swapped = make_nest(permute_func({1, 0, 2}), Shapes{{3, 2, 4}, {2, 3, 4}}, {});
  EXPECT_TRUE(has_inner_loop(loop_of(swapped.body).body));
  const Nest rotated = make_nest(permute_func({1, 2, 0}), Shapes{{4, 2, 3}, {2, 3, 4}}, {});
  EXPECT_TRUE(loop_of(rotated.body).extent.is_const(6));
  const Nest thin = make_nest(permute_func({1, 0, 2}), Shapes{{3, 1, 4}, {1, 3, 4}}, {});
  EXPECT_TRUE(loop_of(thin.body).extent.is_const(12));
  for_each_place(thin.body, [](const Place& place, bool) { EXPECT_EQ(place.indices[0].op(), PrimOp::Var); });
}

TEST(Nest, PositionsOfProvedAccessesAreLinear) {
  const Nest nest = make_nest(softmax_func(), Shapes{{4, 5}, {4, 5}}, {});
  EXPECT_EQ(nest.work, 4u * 6 * 2 + 20);
  for_each_place(nest.body, [](const Place& place, bool) {
    EXPECT_TRUE(place.proved);
    EXPECT_EQ(place.indices.size(), 1u);
    EXPECT_FALSE(linear_parts(place.indices[0]).rest);
  });
  EXPECT_FALSE(nest.buffers[1].zero_fill);
  EXPECT_TRUE(make_nest(gather_func(), Shapes{{4}, {3}, {3}, {3}}, {}).buffers[3].zero_fill);
}

PrimFunc sum_func(bool over_rows) {
  const PrimExpr n = make_sym_var("n"), m = make_sym_var("m");
  FuncBuilder f("sum");
  const BufferId x = f.input("x", DType::Float32, {n, m});
  const BufferId y = f.output("y", DType::Float32, {over_rows ? m : n});
  f.reduce(y, ExprOp::Add, f32(0), {over_rows ? n : m}, [&](const Indices& i, const Indices& k) {
    return over_rows ? f.load(x, {k[0], i[0]}) : f.load(x, {i[0], k[0]});
  });
  return f.finish();
}

TEST(Vectorize, ReductionsFoldLanesOrRunSideBySide) {
  const Nest inner = make_nest(sum_func(false), Shapes{{100, 100}, {100}}, {});
  EXPECT_FALSE(choose_vector_loop(loop_of(inner.body)));
  const auto fold = choose_vector_loop(loop_of(loop_of(inner.body).body, 1));
  ASSERT_TRUE(fold);
  EXPECT_TRUE(fold->folds.contains(1));

  const Nest outer = make_nest(sum_func(true), Shapes{{100, 100}, {100}}, {});
  const auto plan = choose_vector_loop(loop_of(outer.body));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->folds.empty());
}

TEST(Vectorize, LoopsThatCarryValuesAreNotVectors) {
  const PrimExpr n = make_sym_var("n");
  const auto plan = [&](LoopKind kind, const PrimExpr& from, const PrimExpr& to) {
    FuncBuilder f("carry");
    const BufferId y = f.output("y", DType::Float32, {n});
    const SymVar i = make_sym_var("i");
    const auto at = [&](const PrimExpr& scale) { return PrimExpr(i) * scale; };
    f.append(loop(i, 5, kind, {store(y, {at(to)}, unary(ExprOp::Exp, f.load(y, {at(from)})))}));
    return plan_vector_loop(loop_of(make_nest(f.finish(), Shapes{{20}}, {}).body)).has_value();
  };
  EXPECT_TRUE(plan(LoopKind::Serial, 1, 1));
  EXPECT_TRUE(plan(LoopKind::Serial, 3, 3));
  EXPECT_FALSE(plan(LoopKind::Serial, 1, 2));
  EXPECT_FALSE(plan(LoopKind::Reduce, 0, 1));
  EXPECT_FALSE(plan(LoopKind::Serial, 0, 0));
}

}  // namespace
}  // namespace ingot::tir
