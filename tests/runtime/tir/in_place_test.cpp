#include "runtime/tir/in_place.h"

#include <gtest/gtest.h>

#include "runtime/tir/text.h"

namespace ingot::tir {
namespace {

// Inputs A and B, output C, all (n, m).
std::vector<bool> in_place(const std::string& body) {
  size_t offset = 0;
  return in_place_inputs(parse(
      "prim_func @f(A: Buffer[(n, m), float32], B: Buffer[(n, m), float32], C: Buffer[(n, m), float32]) {" + body + "}",
      offset));
}
using Inputs = std::vector<bool>;

TEST(InPlace, OnlyInputsOfTheOutputsRank) {
  size_t offset = 0;
  EXPECT_EQ(in_place_inputs(parse("prim_func @f(A: Buffer[(m,), float32], C: Buffer[(n, m), float32]) {"
                                  "  for i in n parallel { for j in m { C[i, j] = A[j]; } } }",
                                  offset)),
            (Inputs{false}));
}

TEST(InPlace, ElementsReadWhereTheyAreWritten) {
  EXPECT_EQ(in_place("for i in n parallel { for j in m { C[i, j] = A[i, j] + B[i, m - 1 - j]; } }"),
            (Inputs{true, false}));
}

TEST(InPlace, RowsReadBeforeTheyAreWritten) {
  EXPECT_EQ(in_place("for i in n parallel { alloc s: Buffer[(), float32]; s[] = 0f32;"
                     "  for k in m reduce { s[] = s[] + A[i, k] + B[k % n, k]; }"
                     "  for j in m { C[i, j] = A[i, j] * s[]; } }"),
            (Inputs{true, false}));
}

TEST(InPlace, NothingThatIsReadLater) {
  EXPECT_EQ(in_place("for i in n parallel { alloc s: Buffer[(m,), float32];"
                     "  for j in m { C[i, j] = A[i, j] + B[i, j]; s[j] = B[i, j]; } }"),
            (Inputs{true, false}));
  EXPECT_EQ(in_place("for i in n parallel { for j in m { C[i, j] = A[i, j]; } }"
                     "alloc s: Buffer[(n,), float32]; for i in n { s[i] = B[i, 0] + A[i, 0]; }"),
            (Inputs{false, false}));
}

TEST(InPlace, OnlyOutputsWrittenWholeAtOnce) {
  EXPECT_EQ(in_place("for i in n parallel { for j in m { if (i < 1) { C[i, j] = A[i, j]; } } }"),
            (Inputs{false, false}));
  EXPECT_EQ(in_place("for i in n parallel { for j in m { C[i, j] = 0f32; } }"
                     "for i in n parallel { for j in m { C[i, j] = A[i, j] + C[i, j]; } }"),
            (Inputs{false, false}));
}

}  // namespace
}  // namespace ingot::tir
