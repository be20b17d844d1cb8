#include "runtime/tir/checker.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functions.h"
#include "runtime/base/error.h"
#include "runtime/tir/text.h"

namespace ingot::tir {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CheckerTest : public ::testing::Test {
 protected:
  CheckerTest() {
    func_.name = "f";
    func_.buffers = {{"A", DType::Float32, {n}}, {"B", DType::Float32, {n}}};
    func_.params = 2;
    func_.outputs = 1;
  }

  Expr a(PrimExpr index) { return load(func_, 0, {std::move(index)}); }

  void expect_error(ErrorCode code, const char* part, std::vector<Stmt> body) {
    func_.body = std::move(body);
    try {
      check(func_);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }
  void expect_ok(std::vector<Stmt> body) {
    func_.body = std::move(body);
    EXPECT_NO_THROW(check(func_));
  }

  SymVar i_ = make_sym_var("i"), j_ = make_sym_var("j");
  PrimExpr n = make_sym_var("n"), i = i_, j = j_;
  PrimFunc func_;
};

TEST_F(CheckerTest, AcceptsWhatTheBuilderMakes) {
  EXPECT_NO_THROW(relu_func());
  EXPECT_NO_THROW(softmax_func());
  EXPECT_NO_THROW(gather_func());
}

TEST_F(CheckerTest, StatementsAndDtypes) {
  constexpr auto kType = ErrorCode::TypeError;
  constexpr auto kForm = ErrorCode::WellFormedness;
  expect_error(kForm, "the input A is written, in `A[0] = 1f32;`", {store(0, {0}, f32(1))});
  expect_error(kType, "float64 is stored to B of dtype float32", {store(1, {0}, constant(DType::Float64, 1))});
  expect_error(kForm, "B has 1 dimensions but 2 indices", {store(1, {0, 0}, f32(1))});
  expect_error(kForm, "an index of B uses i, which is not bound there", {store(1, {i}, f32(1))});
  expect_error(kForm, "the variable i is bound twice",
               {loop(i_, n, LoopKind::Serial, {}), loop(i_, n, LoopKind::Serial, {})});
  expect_error(kForm, "x is not bound there", {store(1, {0}, let_value(make_let("x", DType::Float32)))});
  expect_error(kForm, "a reduce loop contains the parallel loop",
               {loop(i_, n, LoopKind::Reduce, {loop(j_, n, LoopKind::Parallel, {})})});
  expect_error(kForm, "buffer 7 does not exist", {store(7, {}, f32(0))});
  const auto wrong = std::make_shared<ExprNode>();
  wrong->op = ExprOp::Add;
  wrong->dtype = DType::Float32;
  wrong->operands = {f32(1), constant_int(DType::Int32, 1)};
  expect_error(kType, "'+' is applied to float32 and int32; use cast", {store(1, {0}, wrong)});
  const auto missing = std::make_shared<ExprNode>();
  missing->op = ExprOp::Exp;
  missing->dtype = DType::Float32;
  expect_error(kForm, "'exp' has 0 operands instead of 1", {store(1, {0}, missing)});
}

TEST_F(CheckerTest, LetsEndWithTheirList) {
  const LetRef x = make_let("x", DType::Float32);
  expect_error(ErrorCode::WellFormedness, "x is not bound there",
               {loop(i_, n, LoopKind::Serial, {let(x, f32(1))}), store(1, {0}, let_value(x))});
}

TEST_F(CheckerTest, TemporariesMustBeAllocated) {
  func_.buffers.push_back({"T", DType::Float32, {n}});
  expect_error(ErrorCode::WellFormedness, "T is neither a parameter nor allocated", {});
  expect_error(ErrorCode::WellFormedness, "T is not allocated there", {store(2, {0}, f32(0)), allocate(2)});
  expect_error(ErrorCode::WellFormedness, "T is allocated twice", {allocate(2), allocate(2)});
  func_.buffers[2].dims = {i};
  expect_error(ErrorCode::WellFormedness, "dimension of T uses i", {allocate(2)});
}

TEST_F(CheckerTest, ParallelLoopsWriteApart) {
  const auto parallel = [&](std::vector<Stmt> body) {
    return std::vector<Stmt>{loop(i_, n, LoopKind::Parallel, std::move(body))};
  };
  const auto inner = [&](Stmt body) { return parallel({loop(j_, 4, LoopKind::Serial, {std::move(body)})}); };
  expect_ok(parallel({store(1, {i}, f32(0))}));
  expect_ok(parallel({store(1, {n - 1 - i}, f32(0))}));
  expect_ok(parallel({store(1, {i}, binary(ExprOp::Add, load(func_, 1, {i}), a(i)))}));
  expect_ok(inner(store(1, {i * 4 + j}, f32(0))));
  const char* touches = "iterations of the parallel loop over i may touch the same element of B";
  expect_error(ErrorCode::WellFormedness, touches, parallel({store(1, {0}, f32(0))}));
  expect_error(ErrorCode::WellFormedness, touches, parallel({store(1, {floor_div(i, 2)}, f32(0))}));
  expect_error(ErrorCode::WellFormedness, touches, parallel({store(1, {i}, load(func_, 1, {0}))}));
  expect_error(ErrorCode::WellFormedness, touches, inner(store(1, {i * 3 + j}, f32(0))));
  expect_error(ErrorCode::WellFormedness, touches, inner(store(1, {i * j}, f32(0))));
  const LetRef at = make_let("at", DType::Int64);
  expect_error(ErrorCode::WellFormedness, touches,
               parallel({let(at, constant_int(DType::Int64, 3)), store(1, {PrimExpr(at->index)}, f32(0))}));
}

TEST_F(CheckerTest, NestingIsLimited) {
  std::vector<Stmt> body;
  for (int k = 0; k < 70; ++k) body = {loop(make_sym_var("k"), 1, LoopKind::Serial, std::move(body))};
  expect_error(ErrorCode::WellFormedness, "nested deeper than 64", std::move(body));
  Expr deep = f32(1);
  for (int k = 0; k < 600; ++k) deep = unary(ExprOp::Neg, deep);
  expect_error(ErrorCode::WellFormedness, "nested deeper than 512", {store(1, {0}, deep)});
  Expr wide = f32(1);
  for (int k = 0; k < 40; ++k) wide = binary(ExprOp::Add, wide, wide);
  expect_error(ErrorCode::WellFormedness, "bind what is shared by let", {store(1, {0}, wide)});
}

TEST_F(CheckerTest, ProvesBounds) {
  EXPECT_THAT(prove_bounds(relu_func()), Each(BoundsProof::Always));
  EXPECT_THAT(prove_bounds(softmax_func()), Each(BoundsProof::Always));
  constexpr auto kYes = BoundsProof::Always;
  // In order: index[i], flag[i], y[i], x[at], y[i], x[0].
  EXPECT_THAT(prove_bounds(gather_func()), ElementsAre(kYes, kYes, kYes, BoundsProof::None, kYes, BoundsProof::None));
}

TEST_F(CheckerTest, ConditionsProveBounds) {
  const auto proof = [&](Expr condition, const PrimExpr& index, bool chosen = true) {
    const Expr element = load(func_, 0, {index});
    const Expr value =
        chosen ? select(std::move(condition), element, f32(0)) : select(std::move(condition), f32(0), element);
    func_.body = {loop(i_, n + 5, LoopKind::Serial, {branch(constant_int(DType::Bool, 1), {store(1, {0}, value)})})};
    return prove_bounds(func_)[1];
  };
  const Expr at = index_value(i);
  const auto number = [](int64_t value) { return constant_int(DType::Int64, value); };
  const Expr inside =
      binary(ExprOp::And, binary(ExprOp::GreaterEqual, at, number(2)), binary(ExprOp::Less, at, index_value(n + 2)));
  EXPECT_EQ(proof(inside, i - 2), BoundsProof::UnderConditions);
  EXPECT_EQ(proof(inside, i - 3), BoundsProof::None);
  EXPECT_EQ(proof(inside, i - 1), BoundsProof::None);
  EXPECT_EQ(proof(unary(ExprOp::Not, inside), i - 2), BoundsProof::None);
  EXPECT_EQ(proof(unary(ExprOp::Not, inside), i - 2, false), BoundsProof::UnderConditions);
  EXPECT_EQ(proof(binary(ExprOp::Greater, index_value(n), at), i), BoundsProof::UnderConditions);
  EXPECT_EQ(proof(binary(ExprOp::Or, inside, inside), i - 2), BoundsProof::None);
}

// What one statement of a row fills, the next ones may read; what the row before it has filled, they may not.
TEST(Checker, KnowsWhatARowHasWritten) {
  const auto temporary_is_whole = [](std::string_view dims, std::string_view written, std::string_view read) {
    size_t offset = 0;
    const std::string text = fmt::format(
        "prim_func @f(X: Buffer[(4, 8), float32], Y: Buffer[(4, 8), float32]) {{ alloc T: Buffer[({}), float32]; "
        "for i in 4 {{ for j in 8 {{ T[{}] = X[i, j]; }} for j in 8 {{ Y[i, j] = T[{}]; }} }} }}",
        dims, written, read);
    return writes_whole(parse(text, offset), 2);
  };
  EXPECT_TRUE(temporary_is_whole("8,", "j", "7 - j"));
  EXPECT_FALSE(temporary_is_whole("9,", "j", "j + 1"));
  EXPECT_FALSE(temporary_is_whole("4, 8", "i, j", "3 - i, j"));
}

TEST_F(CheckerTest, KnowsWhatIsWrittenWhole) {
  const auto whole = [&](std::vector<Stmt> body) {
    func_.body = std::move(body);
    check(func_);
    return writes_whole(func_, 1);
  };
  EXPECT_TRUE(writes_whole(relu_func(), 1));
  EXPECT_TRUE(writes_whole(softmax_func(), 1));
  EXPECT_TRUE(writes_whole(softmax_func(), 2));
  EXPECT_FALSE(writes_whole(gather_func(), 3));  // under a condition
  EXPECT_TRUE(whole({loop(i_, n, LoopKind::Serial, {store(1, {n - 1 - i}, f32(0))})}) ||
              !whole({loop(i_, n, LoopKind::Serial, {store(1, {i + 1}, f32(0))})}));
  EXPECT_FALSE(whole({store(1, {0}, f32(0))}));
  const auto accumulate = store(1, {i}, binary(ExprOp::Add, load(func_, 1, {i}), a(i)));
  EXPECT_FALSE(whole({loop(i_, n, LoopKind::Serial, {accumulate})}));
  EXPECT_TRUE(whole({loop(i_, n, LoopKind::Serial, {store(1, {i}, f32(0)), accumulate})}));
  EXPECT_TRUE(
      whole({loop(j_, n, LoopKind::Serial, {store(1, {j}, f32(0))}), loop(i_, n, LoopKind::Serial, {accumulate})}));
  EXPECT_FALSE(whole({loop(j_, n, LoopKind::Serial, {loop(i_, n - 1, LoopKind::Serial, {store(1, {i}, f32(0))})})}));
  const SymVar m = make_sym_var("m");
  const auto two_dims = [&](std::vector<PrimExpr> dims) {
    func_.buffers[0].dims = {PrimExpr(m), n};
    func_.buffers[1].dims = std::move(dims);
  };
  two_dims({PrimExpr(m) * n});
  EXPECT_TRUE(whole(
      {loop(i_, PrimExpr(m), LoopKind::Serial, {loop(j_, n, LoopKind::Serial, {store(1, {i * n + j}, f32(0))})})}));
  two_dims({n, PrimExpr(m)});
  EXPECT_TRUE(
      whole({loop(i_, PrimExpr(m), LoopKind::Serial, {loop(j_, n, LoopKind::Serial, {store(1, {j, i}, f32(0))})})}));
  two_dims({PrimExpr(m), n * 2});
  const SymVar k = make_sym_var("k"), l = make_sym_var("l");
  const auto half = [&](const SymVar& row, const SymVar& column, const PrimExpr& begin) {
    return loop(row, PrimExpr(m), LoopKind::Serial,
                {loop(column, n, LoopKind::Serial, {store(1, {PrimExpr(row), begin + PrimExpr(column)}, f32(0))})});
  };
  EXPECT_TRUE(whole({half(i_, j_, n), half(k, l, 0)}));
  EXPECT_FALSE(whole({half(i_, j_, n)}));
}

}  // namespace
}  // namespace ingot::tir
