#include "runtime/symbolic/simplify.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

PrimExpr node(PrimOp op, std::vector<PrimExpr> operands) { return PrimExpr::make(op, std::move(operands)); }

class SimplifyTest : public ::testing::Test {
 protected:
  SimplifyTest() {
    facts_.bound(i_, {0, 99});
    facts_.bound(j_, {0, 15});
  }
  std::string simple(const PrimExpr& expr) const { return to_text(simplify(expr, facts_)); }

  SymVar n_ = make_sym_var("n"), m_ = make_sym_var("m"), i_ = make_sym_var("i"), j_ = make_sym_var("j");
  PrimExpr n = n_, m = m_, i = i_, j = j_;
  Assumptions facts_ = Assumptions::dims();
};

TEST_F(SimplifyTest, SumsAreLinearCombinations) {
  EXPECT_EQ(simple(n + n), "n * 2");
  EXPECT_EQ(simple(PrimExpr(2) * n), "n * 2");
  EXPECT_EQ(simple(n - n), "0");
  EXPECT_EQ(simple(n + 3 - m + n - 1), "n * 2 + 2 - m");
  EXPECT_EQ(simple((n + 1) * (m + 2)), "m * n + m + n * 2 + 2");
  EXPECT_EQ(simple(m * n - n * m), "0");
  EXPECT_EQ(simple(PrimExpr(1) - n), "1 - n");
  EXPECT_EQ(simple(PrimExpr(0) - n), "n * -1");
  EXPECT_EQ(simple(m - n), "m - n");
  EXPECT_EQ(simple(n - m), "n - m");
}

TEST_F(SimplifyTest, DivisionsAreResolvedWhereDivisibilityDecides) {
  EXPECT_EQ(simple(floor_div(n * 4, 4)), "n");
  EXPECT_EQ(simple(floor_div(n * 4 + 2, 4)), "n");
  EXPECT_EQ(simple(floor_div(n * 4 + 7, 4)), "n + 1");
  EXPECT_EQ(simple(floor_div(n * 6, 4)), "n + n / 2");
  EXPECT_EQ(simple(floor_div(floor_div(n, 2), 3)), "n / 6");
  EXPECT_EQ(simple(floor_div(floor_div(n, 2) + 1, 3)), "(n + 2) / 6");
  EXPECT_EQ(simple(floor_mod(n * 4, 4)), "0");
  EXPECT_EQ(simple(floor_mod(n * 4 + 5, 4)), "1");
  EXPECT_EQ(simple(floor_mod(n * 6, 4)), "n % 2 * 2");
  EXPECT_EQ(simple(floor_mod(n - 1, 4)), "(n + 3) % 4");
  EXPECT_EQ(simple(floor_div(n, -2)), "n * -1 / 2");
}

TEST_F(SimplifyTest, DivisionsAreResolvedWhereRangesDecide) {
  EXPECT_EQ(simple(floor_div(i * 16 + j, 16)), "i");
  EXPECT_EQ(simple(floor_mod(i * 16 + j, 16)), "j");
  EXPECT_EQ(simple(floor_div(i * 16 + j, 32)), "i / 2");
  EXPECT_EQ(simple(floor_mod(i * 16 + j, 32)), "j + i % 2 * 16");
  EXPECT_EQ(simple(floor_div(j, 16)), "0");
  EXPECT_EQ(simple(floor_div(j - 16, 16)), "-1");
}

TEST_F(SimplifyTest, QuotientAndRemainderComeTogetherAgain) {
  EXPECT_EQ(simple(floor_div(n, 4) * 4 + floor_mod(n, 4)), "n");
  EXPECT_EQ(simple(floor_mod(n, m) + floor_div(n, m) * m), "n");
  EXPECT_EQ(simple(floor_mod(n, 4) * 2 + floor_div(n, 4) * 8 + 1), "n * 2 + 1");
}

TEST_F(SimplifyTest, SymbolicDivisorsKeepTheirFault) {
  EXPECT_EQ(simple(floor_div(n * m, m)), "m * n / m");
  Assumptions positive = Assumptions::dims();
  positive.bound(m_, {1, INT64_MAX});
  EXPECT_EQ(to_text(simplify(floor_div(n * m, m), positive)), "n");
  EXPECT_EQ(to_text(simplify(floor_mod(n * m, m), positive)), "0");
  EXPECT_EQ(to_text(simplify(floor_div(m, m), positive)), "1");
  EXPECT_EQ(simple(floor_div(n * m * 6 + 5, m * 2)), "n * 3 + 5 / (m * 2)");
}

TEST_F(SimplifyTest, MinimaMaximaComparisonsAndLogic) {
  EXPECT_EQ(simple(min(n, n + 1)), "n");
  EXPECT_EQ(simple(max(n, n + 1)), "n + 1");
  EXPECT_EQ(simple(min(m, n) - min(n, m)), "0");
  EXPECT_EQ(simple(min(n + 1, m + 1)), "min(m, n) + 1");
  EXPECT_EQ(simple(max(n, 0)), "n");
  EXPECT_EQ(simple(node(PrimOp::Less, {n, n + 1})), "1");
  EXPECT_EQ(simple(node(PrimOp::LessEqual, {n, 4})), "n < 5");
  EXPECT_EQ(simple(node(PrimOp::Not, {node(PrimOp::Less, {n, 5})})), "4 < n");
  EXPECT_EQ(simple(node(PrimOp::Equal, {n * 2, m * 4})), "m * 2 == n");
  EXPECT_EQ(simple(node(PrimOp::Equal, {n * 2, m * 2 + 1})), "0");
  EXPECT_EQ(simple(node(PrimOp::And, {node(PrimOp::Less, {n, n + 1}), node(PrimOp::Less, {n, m})})), "n < m");
  EXPECT_EQ(simple(node(PrimOp::Select, {node(PrimOp::Less, {n, m}), n + n, n * 2})), "n * 2");
  EXPECT_EQ(simple(node(PrimOp::Select, {node(PrimOp::Equal, {n, 1}), min(n, 32), n})), "n");
  EXPECT_EQ(simple(node(PrimOp::Select, {node(PrimOp::Equal, {n, 1}), m, n})), "select(n == 1, m, n)");
}

// As broadcasting of a dimension that may be 1 leaves it.
TEST_F(SimplifyTest, SelectionsOfIndicesOfLoopsThatRunOnce) {
  const SymVar k_ = make_sym_var("k");
  const PrimExpr k = k_, is_one = node(PrimOp::Equal, {n, 1});
  facts_.below(k_, node(PrimOp::Select, {is_one, min(n, 32), n}));
  EXPECT_EQ(simple(node(PrimOp::Select, {is_one, 0, k})), "k");
  EXPECT_EQ(simple(node(PrimOp::Select, {is_one, m, k + m})), "k + m");
  EXPECT_EQ(simple(node(PrimOp::Select, {is_one, 1, k})), "select(n == 1, 1, k)");
  EXPECT_EQ(simple(node(PrimOp::Select, {node(PrimOp::Equal, {n, 2}), 0, k})), "select(n == 2, 0, k)");
  EXPECT_EQ(simple(node(PrimOp::Select, {node(PrimOp::Equal, {m, 1}), 0, k})), "select(m == 1, 0, k)");
}

TEST_F(SimplifyTest, WhatWouldOverflowStays) {
  const PrimExpr big = INT64_MAX;
  EXPECT_EQ(simple(node(PrimOp::Add, {big, 1})), "9223372036854775807 + 1");
  EXPECT_EQ(simple(n * big + n), "n * 9223372036854775807 + n");
  EXPECT_EQ(simple(node(PrimOp::FloorDiv, {INT64_MIN, -1})), "-9223372036854775808 / -1");
  EXPECT_EQ(simple(node(PrimOp::FloorDiv, {n, 0})), "n / 0");
}

TEST_F(SimplifyTest, DeepAndWideExpressionsEndSoon) {
  PrimExpr deep = n;
  while (deep.depth() < 200) deep = floor_mod(floor_div(deep * 3 + i, 2) + m, 7) + 1;
  simplify(deep, facts_);
  PrimExpr wide = n + 1;
  while (wide.nodes() * 2 < kMaxExprNodes) wide = wide * (wide + m);
  simplify(wide, facts_);
  PrimExpr mixed = n;
  while (mixed.nodes() * 2 + 4 < kMaxExprNodes) mixed = floor_mod(mixed, 12) + floor_div(mixed, 4) * 4;
  simplify(mixed, facts_);
  PrimExpr borders = n;
  while (borders.nodes() * 2 + 4 < kMaxExprNodes) borders = max(min(borders - 1, m), borders - n);
  prove_less(borders, n, facts_);
}

TEST_F(SimplifyTest, ProvesEquality) {
  EXPECT_EQ(prove_equal(n + n, n * 2), Proof::Yes);
  EXPECT_EQ(prove_equal(n, n + 1), Proof::No);
  EXPECT_EQ(prove_equal(n, m), Proof::Unknown);
  EXPECT_EQ(prove_equal(n, -1), Proof::No);
  EXPECT_EQ(prove_equal(n * 2, m * 2 + 1), Proof::No);
  EXPECT_EQ(prove_equal((n + 1) * (n - 1), n * n - 1), Proof::Yes);
  EXPECT_EQ(prove_equal(n, 3), Proof::Unknown);
}

TEST_F(SimplifyTest, ProvesOrder) {
  EXPECT_EQ(prove_less(n, n + 1), Proof::Yes);
  EXPECT_EQ(prove_less(n + 1, n), Proof::No);
  EXPECT_EQ(prove_less_equal(0, n), Proof::Yes);
  EXPECT_EQ(prove_less(n, 0), Proof::No);
  EXPECT_EQ(prove_less(n, m), Proof::Unknown);
  EXPECT_EQ(prove_less(floor_mod(n, 8), 8), Proof::Yes);
  EXPECT_EQ(prove_less(floor_mod(n, m), m), Proof::Yes);
  EXPECT_EQ(prove_less_equal(min(n, m), n), Proof::Yes);
}

TEST_F(SimplifyTest, ProvesIndicesInBounds) {
  const SymVar r = make_sym_var("r"), c = make_sym_var("c"), f = make_sym_var("f");
  const PrimExpr row = r, column = c, flat = f;
  Assumptions loops = Assumptions::dims();
  loops.below(r, n);
  loops.below(c, m);
  EXPECT_EQ(prove_less(row, n, loops), Proof::Yes);
  EXPECT_EQ(prove_less_equal(0, n - 1 - row, loops), Proof::Yes);
  EXPECT_EQ(prove_less(row + 1, n, loops), Proof::Unknown);
  EXPECT_EQ(prove_less(row * m + column, n * m, loops), Proof::Yes);
  EXPECT_EQ(to_text(simplify(floor_div(row * m + column, m), loops)), "r");
  EXPECT_EQ(to_text(simplify(floor_mod(row * m + column, m), loops)), "c");
  EXPECT_EQ(prove_less_equal(0, max(min(row - 1, n - 1), 0), loops), Proof::Yes);
  EXPECT_EQ(prove_less(max(min(row + 5, n - 1), 0), n, loops), Proof::Yes);

  Assumptions flat_loop = Assumptions::dims();
  flat_loop.below(f, n * m);
  EXPECT_EQ(prove_less(floor_div(flat, m), n, flat_loop), Proof::Yes);
  EXPECT_EQ(prove_less(floor_mod(flat, m), m, flat_loop), Proof::Yes);

  Assumptions triangle = Assumptions::dims();
  triangle.below(r, n);
  triangle.below(c, row + 1);
  EXPECT_EQ(prove_less(column, n, triangle), Proof::Yes);
  EXPECT_EQ(prove_less_equal(column, row, triangle), Proof::Yes);
}

TEST_F(SimplifyTest, FindsLinearForms) {
  const auto form = linear_in((i * m + j) * 2 - i + 3, i_, facts_);
  ASSERT_TRUE(form);
  EXPECT_EQ(to_text(form->coefficient), "m * 2 - 1");
  EXPECT_EQ(to_text(form->rest), "j * 2 + 3");
  EXPECT_TRUE(linear_in(n, i_, facts_)->coefficient.is_const(0));
  EXPECT_FALSE(linear_in(i * i, i_, facts_));
  EXPECT_FALSE(linear_in(i + floor_div(i, 3), i_, facts_));
}

TEST_F(SimplifyTest, RangesAreConservative) {
  const Range sum = range_of(i * 2 - j + 1, facts_);
  EXPECT_EQ(sum.least, -14);
  EXPECT_EQ(sum.greatest, 199);
  EXPECT_EQ(range_of(i - i + 3, facts_).greatest, 3);
  EXPECT_EQ(range_of(n * INT64_MAX, facts_).greatest, INT64_MAX);
  EXPECT_EQ(range_of(PrimExpr(0) - n, facts_).least, INT64_MIN);
  EXPECT_EQ(range_of(floor_mod(n, 5), facts_).greatest, 4);
  EXPECT_EQ(range_of(floor_div(i, 10), facts_).greatest, 9);
}

// Random expressions over two dimensions, a bounded variable, one that may be negative and an index below n.
class RandomExpressions {
 public:
  explicit RandomExpressions(uint32_t seed) : random_(seed) {
    facts.bound(vars[2], {0, 15});
    facts.bound(vars[3], {-20, 20});
    facts.below(vars[4], PrimExpr(vars[0]));
  }

  PrimExpr expr(int depth) {
    const int64_t pick = number(0, depth == 0 ? 1 : 15);
    if (pick == 0) return number(-6, 17);
    if (pick == 1) return vars[static_cast<size_t>(number(0, 4))];
    const PrimExpr a = expr(depth - 1);
    const PrimExpr b = expr(depth - 1);
    const PrimExpr c = number(0, 3) == 0 ? b : PrimExpr(number(0, 2) == 0 ? -4 : (int64_t{1} << number(0, 4)));
    switch (pick) {
      case 2:
      case 3:
        return node(PrimOp::Add, {a, b});
      case 4:
        return node(PrimOp::Sub, {a, b});
      case 5:
        return node(PrimOp::Mul, {a, b});
      case 6:
        return node(PrimOp::Mul, {a, c});
      case 7:
      case 8:
        return node(PrimOp::FloorDiv, {a, c});
      case 9:
        return node(PrimOp::FloorMod, {a, c});
      case 10:
        return node(PrimOp::Min, {a, b});
      case 11:
        return node(PrimOp::Max, {a, b});
      case 12:
        return node(PrimOp::Select, {comparison(a, b), a, b});
      case 13:
        return comparison(a, b);
      case 14:
        return node(number(0, 1) == 0 ? PrimOp::And : PrimOp::Or, {a, b});
      default:
        return node(PrimOp::Add,
                    {node(PrimOp::Mul, {node(PrimOp::FloorDiv, {a, c}), c}), node(PrimOp::FloorMod, {a, c})});
    }
  }

  void draw_values() {
    const int64_t n = number(1, 12);
    const int64_t drawn[] = {n, number(0, 12), number(0, 15), number(-20, 20), number(0, n - 1)};
    for (size_t k = 0; k < 5; ++k) values_[vars[k].get()] = drawn[k];
  }

  // nullopt where the evaluation faults.
  std::optional<int64_t> value(const PrimExpr& expr) const {
    try {
      return evaluate(expr, [&](const SymVar& var) { return std::optional(values_.at(var.get())); });
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  SymVar vars[5] = {make_sym_var("n"), make_sym_var("m"), make_sym_var("j"), make_sym_var("z"), make_sym_var("i")};
  Assumptions facts = Assumptions::dims();

 private:
  int64_t number(int64_t least, int64_t greatest) {
    return std::uniform_int_distribution<int64_t>(least, greatest)(random_);
  }
  PrimExpr comparison(const PrimExpr& a, const PrimExpr& b) {
    constexpr PrimOp kOps[] = {PrimOp::Equal, PrimOp::NotEqual, PrimOp::Less, PrimOp::LessEqual};
    const PrimExpr result = node(kOps[number(0, 3)], {a, b});
    return number(0, 3) == 0 ? node(PrimOp::Not, {result}) : result;
  }

  std::mt19937 random_;
  std::map<const SymVarNode*, int64_t> values_;
};

TEST(SimplifyProperty, KeepsTheValueAndStaysInRange) {
  RandomExpressions random(1);
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    const PrimExpr expr = random.expr(4);
    const PrimExpr simple = simplify(expr, random.facts);
    const Range range = range_of(expr, random.facts);
    EXPECT_TRUE(same_expr(simplify(simple, random.facts), simplify(simplify(simple, random.facts), random.facts)));
    for (int k = 0; k < 6; ++k) {
      random.draw_values();
      const auto expected = random.value(expr);
      if (!expected) continue;
      ++compared;
      ASSERT_EQ(random.value(simple), expected) << to_text(expr) << "\nsimplified to " << to_text(simple);
      ASSERT_TRUE(range.least <= *expected && *expected <= range.greatest) << to_text(expr);
    }
  }
  EXPECT_GT(compared, 4500);
}

TEST(SimplifyProperty, ProofsAreNeverWrong) {
  RandomExpressions random(2);
  int proved = 0;
  for (int round = 0; round < 3000; ++round) {
    const PrimExpr a = random.expr(3);
    const PrimExpr b = random.expr(2);
    const Proof equal = prove_equal(a, b, random.facts);
    const Proof less = prove_less(a, b, random.facts);
    const Proof less_equal = prove_less_equal(a, b, random.facts);
    proved += (equal != Proof::Unknown) + (less != Proof::Unknown) + (less_equal != Proof::Unknown);
    for (int k = 0; k < 6; ++k) {
      random.draw_values();
      const auto x = random.value(a);
      const auto y = random.value(b);
      if (!x || !y) continue;
      const auto agrees = [&](Proof proof, bool fact) {
        return proof == Proof::Unknown || (proof == Proof::Yes) == fact;
      };
      ASSERT_TRUE(agrees(equal, *x == *y)) << to_text(a) << " == " << to_text(b);
      ASSERT_TRUE(agrees(less, *x < *y)) << to_text(a) << " < " << to_text(b);
      ASSERT_TRUE(agrees(less_equal, *x <= *y)) << to_text(a) << " <= " << to_text(b);
    }
  }
  EXPECT_GT(proved, 1500);
}

}  // namespace
}  // namespace ingot
