#include "runtime/symbolic/linear_sum.h"

#include <gtest/gtest.h>

#include "runtime/symbolic/simplifier.h"

namespace ingot {
namespace {

class LinearSumTest : public ::testing::Test {
 protected:
  SymVar m_ = make_sym_var("m"), n_ = make_sym_var("n"), other_ = make_sym_var("n");
  PrimExpr m = m_, n = n_, other = other_;

  static std::string text(const PrimExpr& expr) {
    const auto sum = linear_sum(expr);
    return sum ? to_text(SumAlgebra::render(*sum)) : "none";
  }
};

TEST_F(LinearSumTest, IsTheNormalForm) {
  EXPECT_EQ(text(n * 2 + m - 3 - n), "m + n - 3");
  EXPECT_EQ(text((n + 1) * 4 - PrimExpr(3) * m), "n * 4 + 4 - m * 3");
  EXPECT_EQ(text(n - n), "0");
  EXPECT_EQ(text(7), "7");
}

TEST_F(LinearSumTest, KeepsVariablesOfOneNameApart) {
  const auto sum = linear_sum(other * 2 + n);
  ASSERT_TRUE(sum);
  ASSERT_EQ(sum->terms.size(), 2u);
  EXPECT_EQ(sum->terms[0].factors[0].var(), other_);
  EXPECT_EQ(sum->terms[0].coefficient, 2);
}

TEST_F(LinearSumTest, TermsAreThoseOfTheSum) {
  const auto terms = linear_terms(n * 2 + m - 3 - n);
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->constant, -3);
  ASSERT_EQ(terms->terms.size(), 2u);
  EXPECT_EQ(terms->terms[0].var, m_);
  EXPECT_EQ(terms->terms[1].var, n_);
  EXPECT_EQ(terms->terms[1].coefficient, 1);
  EXPECT_TRUE(linear_terms(n - n)->terms.empty());
  EXPECT_FALSE(linear_terms(n * m));
}

TEST_F(LinearSumTest, LeavesTheRestAlone) {
  EXPECT_FALSE(linear_sum(n * m));
  EXPECT_FALSE(linear_sum(n + floor_div(m, 2)));
  EXPECT_FALSE(linear_sum(min(n, m)));
  EXPECT_FALSE(linear_sum(n * INT64_MAX + n));
  EXPECT_FALSE(linear_sum(PrimExpr::make(PrimOp::Sub, {0, PrimExpr(INT64_MIN)}) * 1));
}

TEST_F(LinearSumTest, AgreesWithTheRulesOfTheSimplifier) {
  const Assumptions facts = Assumptions::dims();
  for (const PrimExpr& expr : {n * 2 + m, (m - n) * 8 + n * 8, PrimExpr(5) - other + n, (n + m) * 3 - (n + m) * 3}) {
    // A division by 1 keeps the rules from taking the short way.
    const PrimExpr hidden = PrimExpr::make(PrimOp::FloorDiv, {expr, 1});
    EXPECT_EQ(text(expr), to_text(SumAlgebra::render(Simplifier(facts).normalize(hidden))));
  }
}

}  // namespace
}  // namespace ingot
