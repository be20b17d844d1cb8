#include "compiler/transform/inline_buffers.h"

#include <gtest/gtest.h>

#include "runtime/tir/text.h"

namespace ingot::transform {
namespace {

// T has the elements of A under exp, or what `value` says; `rest` writes B from it.
std::string func(const std::string& value, const std::string& rest) {
  return "prim_func @f(A: Buffer[(n, m), float32], B: Buffer[(n, m), float32]) {\n"
         "  alloc T: Buffer[(n, m), float32];\n"
         "  for i in n parallel {\n    for j in m {\n      T[i, j] = " +
         value + ";\n    }\n  }\n" + rest + "}\n";
}
std::string nest(const std::string& statements) {
  return "  for i in n parallel {\n    for j in m {\n" + statements + "    }\n  }\n";
}

std::string inlined(const std::string& text) {
  size_t offset = 0;
  return tir::print(inline_buffers(tir::parse(text, offset)));
}
std::string alone(const std::string& statements) {
  return "prim_func @f(A: Buffer[(n, m), float32], B: Buffer[(n, m), float32]) {\n" + nest(statements) + "}\n";
}
void expect_unchanged(const std::string& text) {
  size_t offset = 0;
  EXPECT_EQ(inlined(text), tir::print(tir::parse(text, offset)));
}

TEST(InlineBuffers, ComputesWhereElementsAreRead) {
  EXPECT_EQ(inlined(func("exp(A[i, j])", nest("      B[i, j] = T[i, m - 1 - j] + 1f32;\n"))),
            alone("      B[i, j] = exp(A[i, m - 1 - j]) + 1f32;\n"));
}

TEST(InlineBuffers, ComputesOnceWhatOneIterationReadsTwice) {
  EXPECT_EQ(inlined(func("exp(A[i, j])", nest("      B[i, j] = T[i, j] * T[i, j];\n"))),
            alone("      let T = exp(A[i, j]);\n      B[i, j] = T * T;\n"));
}

TEST(InlineBuffers, MovesAreRepeated) {
  EXPECT_EQ(inlined(func("A[i, j]", nest("      B[i, j] = T[i, j] * T[i, m - 1 - j];\n"))),
            alone("      B[i, j] = A[i, j] * A[i, m - 1 - j];\n"));
}

TEST(InlineBuffers, NothingIsComputedMoreOften) {
  expect_unchanged(func("exp(A[i, j])", nest("      B[i, j] = T[i, j] * T[i, m - 1 - j];\n")));
  expect_unchanged(func("exp(A[i, j])",
                        "  for i in n parallel {\n    for j in m {\n      for k in m reduce {\n"
                        "        B[i, j] = B[i, j] + T[i, k];\n      }\n    }\n  }\n"));
}

// Computed for all, exp would be computed where nobody asked for it; what it reads might not even be there.
TEST(InlineBuffers, WhatIsReadTwiceUnderConditionsStays) {
  expect_unchanged(func("exp(A[i, j])", nest("      B[i, j] = select(A[i, j] < 0f32, T[i, j] * T[i, j], 0f32);\n")));
}

TEST(InlineBuffers, WhatIsWrittenTwiceStays) {
  expect_unchanged(func("A[i, j]", nest("      T[i, j] = T[i, j] + 1f32;\n") + nest("      B[i, j] = T[i, j];\n")));
}

}  // namespace
}  // namespace ingot::transform
