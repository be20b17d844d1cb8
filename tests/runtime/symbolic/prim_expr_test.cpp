#include "runtime/symbolic/prim_expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PrimExprTest : public ::testing::Test {
 protected:
  SymVar n_ = make_sym_var("n"), m_ = make_sym_var("m");
  PrimExpr n = n_, m = m_;

  Bindings bind(int64_t n_value, int64_t m_value) const {
    return [=, this](const SymVar& var) -> std::optional<int64_t> {
      if (var == n_) return n_value;
      if (var == m_) return m_value;
      return std::nullopt;
    };
  }
};

template <typename F>
void expect_error(ErrorCode code, const char* part, F action) {
  try {
    action();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST_F(PrimExprTest, SugarFoldsConstantsAndNeutralElements) {
  EXPECT_TRUE((PrimExpr(2) + 3).is_const(5));
  EXPECT_TRUE((n + 0).same_node(n));
  EXPECT_TRUE((PrimExpr(1) * n).same_node(n));
  EXPECT_TRUE((n * 0).is_const(0));
  EXPECT_TRUE(floor_div(-7, PrimExpr(2)).is_const(-4));
  EXPECT_TRUE(floor_mod(PrimExpr(-7), 2).is_const(1));
  EXPECT_TRUE(min(PrimExpr(3), 2).is_const(2));
  EXPECT_TRUE(max(n, n).same_node(n));
}

TEST_F(PrimExprTest, WhatWouldOverflowStaysAsItIs) {
  EXPECT_EQ((PrimExpr(INT64_MAX) + 1).op(), PrimOp::Add);
  EXPECT_EQ(floor_div(PrimExpr(INT64_MIN), -1).op(), PrimOp::FloorDiv);
  EXPECT_TRUE(floor_mod(PrimExpr(INT64_MIN), -1).is_const(0));
  EXPECT_EQ(floor_div(n, 0).op(), PrimOp::FloorDiv);
}

TEST_F(PrimExprTest, TextHasParenthesesWhereTheyAreNeeded) {
  EXPECT_EQ(to_text(n * 4 + 1), "n * 4 + 1");
  EXPECT_EQ(to_text((n + 1) * 4), "(n + 1) * 4");
  EXPECT_EQ(to_text(n - (m - 1)), "n - (m - 1)");
  EXPECT_EQ(to_text(n - m - 1), "n - m - 1");
  EXPECT_EQ(to_text(n * floor_div(m, 2)), "n * (m / 2)");
  EXPECT_EQ(to_text(floor_mod(n * m, 2)), "n * m % 2");
  EXPECT_EQ(to_text(min(n, max(m, 3))), "min(n, max(m, 3))");
  const PrimExpr less = PrimExpr::make(PrimOp::Less, {n, m});
  EXPECT_EQ(to_text(PrimExpr::make(PrimOp::Not, {less})), "!(n < m)");
  EXPECT_EQ(to_text(PrimExpr::make(PrimOp::Select, {less, n, m})), "select(n < m, n, m)");
  EXPECT_EQ(to_text(PrimExpr::make(PrimOp::And, {less, PrimExpr::make(PrimOp::Or, {n, m})})), "n < m && (n || m)");
  EXPECT_EQ(to_text(n * -1), "n * -1");
}

TEST_F(PrimExprTest, EvaluatesWithFloorDivision) {
  EXPECT_EQ(evaluate(floor_div(n - m, 4), bind(1, 8)), -2);
  EXPECT_EQ(evaluate(floor_mod(n - m, 4), bind(1, 8)), 1);
  const PrimExpr guarded = PrimExpr::make(
      PrimOp::Select, {PrimExpr::make(PrimOp::Equal, {m, 0}), PrimExpr(0), PrimExpr::make(PrimOp::FloorDiv, {n, m})});
  EXPECT_EQ(evaluate(guarded, bind(7, 0)), 0);
  EXPECT_EQ(evaluate(guarded, bind(7, 2)), 3);
}

TEST_F(PrimExprTest, EvaluationReportsWhatWentWrong) {
  expect_error(ErrorCode::ShapeMismatch, "n * m overflows int64 with the operands 4611686018427387904 and 2",
               [&] { evaluate(n * m, bind(int64_t{1} << 62, 2)); });
  expect_error(ErrorCode::DivisionByZero, "n / m divides 5 by 0", [&] { evaluate(floor_div(n, m), bind(5, 0)); });
  expect_error(ErrorCode::ShapeMismatch, "overflows", [&] { evaluate(floor_div(n, m), bind(INT64_MIN, -1)); });
  EXPECT_EQ(evaluate(floor_mod(n, m), bind(INT64_MIN, -1)), 0);
  expect_error(ErrorCode::Internal, "k", [&] { evaluate(PrimExpr(make_sym_var("k")), bind(0, 0)); });
}

TEST_F(PrimExprTest, SameExprComparesStructureAndIdentityOfVariables) {
  EXPECT_TRUE(same_expr(n + 1, n + 1));
  EXPECT_FALSE(same_expr(n + 1, n + 2));
  EXPECT_FALSE(same_expr(n + m, m + n));
  EXPECT_FALSE(same_expr(n, PrimExpr(make_sym_var("n"))));
}

TEST_F(PrimExprTest, SubstitutesAndSharesWhatIsUnchanged) {
  const Substitution n_to_m_plus_1 = [&](const SymVar& var) -> std::optional<PrimExpr> {
    return var == n_ ? std::optional(m + 1) : std::nullopt;
  };
  EXPECT_EQ(to_text(substitute(n * 2 + m, n_to_m_plus_1)), "(m + 1) * 2 + m");
  const PrimExpr unchanged = m * 3;
  EXPECT_TRUE(substitute(unchanged, n_to_m_plus_1).same_node(unchanged));
}

TEST_F(PrimExprTest, VisitsVariablesOnceInOrder) {
  std::vector<std::string> names;
  for_each_var(m * n + m + PrimExpr(make_sym_var("k")), [&](const SymVar& var) { names.push_back(var->name); });
  EXPECT_THAT(names, ElementsAre("m", "n", "k"));
}

TEST_F(PrimExprTest, DepthAndSizeAreBounded) {
  PrimExpr deep = n;
  for (uint32_t i = 1; i < kMaxExprDepth; ++i) deep = deep + 1;
  EXPECT_EQ(deep.depth(), kMaxExprDepth);
  expect_error(ErrorCode::Unsupported, "nested deeper than 256", [&] { deep + 1; });
  PrimExpr wide = n;
  expect_error(ErrorCode::Unsupported, "more than 4096 nodes", [&] {
    for (int i = 0; i < 100; ++i) wide = wide + wide;
  });
  expect_error(ErrorCode::Internal, "operands", [&] { PrimExpr::make(PrimOp::Not, {n, m}); });
}

}  // namespace
}  // namespace ingot
