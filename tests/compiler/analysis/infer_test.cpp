#include "compiler/analysis/infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compiler/analysis/frontend.h"

namespace ingot::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Infer, SymbolicDimensionsFlowThroughOperators) {
  EXPECT_EQ(typed("def @f(%x: Tensor[(n, 784), float32], %w: Tensor[(784, 10), float32]) {\n"
                  "  dataflow { let %y = matmul(%x, %w); let %p = softmax(%y); output(%p); }\n  %p }"),
            "def @f(%x: Tensor[(n, 784), float32], %w: Tensor[(784, 10), float32]) -> Tensor[(n, 10), float32] {\n"
            "  dataflow {\n"
            "    let %y: Tensor[(n, 10), float32] = matmul(%x, %w);\n"
            "    let %p: Tensor[(n, 10), float32] = softmax(%y);\n"
            "    output(%p);\n"
            "  }\n"
            "  %p\n"
            "}\n");
}

TEST(Infer, CallsBindTheDimensionsOfSignatures) {
  EXPECT_THAT(typed("def @g(%x: Tensor[(n, m), float32]) -> Tensor[(m, n), float32] { transpose(%x) }\n"
                    "def @f(%x: Tensor[(k, 3), float32]) { @g(%x) }"),
              HasSubstr("def @f(%x: Tensor[(k, 3), float32]) -> Tensor[(3, k), float32]"));
}

TEST(Infer, LiteralsTakeTheDtypeOfTheirContext) {
  const std::string text = typed(
      "def @f(%x: int64, %h: float16, %b: bool) -> (float64, int8) {\n"
      "  let %one = 1; let %s = (%x + %one, %h * %one); let %w = where(%b, 2, %h);\n"
      "  let %c = if (%b) { 3 } else { %x }; (4, 5) }");
  for (const char* expected :
       {"add(%x, 1i64)", "multiply(%h, 1.0f16)", "where(%b, 2.0f16, %h)", "3i64", "(4.0f64, 5i8)"})
    EXPECT_THAT(text, HasSubstr(expected));
  EXPECT_THAT(typed("def @f() { (1, 2.5, 1 + 2, 1 + 2.5) }"),
              HasSubstr("-> (Tensor[(), int32], Tensor[(), float32], Tensor[(), int32], Tensor[(), float32])"));
  EXPECT_THAT(typed("def @f(%x: int8) { %x + 300 }"),
              StartsWith("error[TypeError]: add: the literal for argument 1 is out of the range of int8"));
  EXPECT_THAT(typed("def @f(%x: int32) { %x + 2.5 }"), StartsWith("error[TypeError]: add: dtypes differ"));
}

TEST(Infer, RecursionWithoutAnnotationTakesWhatTheOtherBranchGives) {
  EXPECT_THAT(typed("def @fact(%n: int32) { if (%n == 0) { 1 } else { %n * @fact(%n - 1) } }"),
              HasSubstr("-> Tensor[(), int32]"));
  EXPECT_THAT(typed("def @f(%n: int32) { @f(%n) }"),
              StartsWith("error[WellFormedness.8]: the result of the recursive @f cannot be inferred"));
  EXPECT_THAT(typed("def @main(%n: int32) { let %fact = fn(%k: int32) { if (%k == 0) { 1 } else "
                    "{ %k * %fact(%k - 1) } }; %fact(%n) }"),
              HasSubstr("let %fact: fn(Tensor[(), int32]) -> Tensor[(), int32]"));
}

TEST(Infer, AFunctionThatOnlyCallsItselfNeedsAnAnnotation) {
  EXPECT_THAT(typed("def @main(%n: int32) { let %f = fn(%k: int32) { %f(%k) }; %f(%n) }"),
              StartsWith("error[WellFormedness.8]: the result of this recursive function cannot be inferred"));
}

TEST(Infer, FunctionsWithoutAnnotationsAreSpecialisedByCall) {
  const std::string text = typed(
      "def @id(%x) { %x }\n"
      "def @main(%a: Tensor[(n, 4), float32], %b: int8, %c: Tensor[(k, 4), float32]) { (@id(%a), @id(%b), @id(%c)) }");
  EXPECT_THAT(text, HasSubstr("private def @id(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32]"));
  EXPECT_THAT(text, HasSubstr("private def @id_1(%x: Tensor[(), int8]) -> Tensor[(), int8]"));
  EXPECT_THAT(text, Not(HasSubstr("id_2")));
  EXPECT_THAT(text, HasSubstr("(Tensor[(n, 4), float32], Tensor[(), int8], Tensor[(k, 4), float32])"));
}

TEST(Infer, LocalFunctionsAreSpecialisedByCall) {
  const std::string text =
      typed("def @main(%a: float32, %b: int8) { let %twice = fn(%x) { %x + %x }; (%twice(%a), %twice(%b)) }");
  EXPECT_THAT(text, HasSubstr("-> (Tensor[(), float32], Tensor[(), int8])"));
  EXPECT_THAT(text, HasSubstr("let %twice_1"));
}

TEST(Infer, UsesFixTheParametersOfFunctionsThatArePassedOn) {
  const std::string text = typed(
      "def @main() {\n"
      "  let %g = fn() { let %x = Constant(0, (10, 10), float32); fn(%y) { %y * %x } };\n"
      "  let %f = %g(); let %x = Constant(1, (10, 10), float32); %f(%x) }");
  EXPECT_THAT(text, HasSubstr("-> Tensor[(10, 10), float32]"));
  EXPECT_THAT(typed("def @main() { fn(%y) { -%y } }"),
              StartsWith("error[TypeError]: the parameters of this function are not fixed by its uses"));
}

TEST(Infer, TypeParametersAreInferredOrGiven) {
  const std::string text = typed(
      "def @apply[A: Type, B: Type](%f: fn(A) -> B, %x: A) -> B { %f(%x) }\n"
      "def @half(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { %x / 2f }\n"
      "def @main(%x: Tensor[(4,), float32]) { @apply<Tensor[(4,), float32], Tensor[(4,), float32]>(@half, %x) }");
  EXPECT_THAT(text, HasSubstr("def @main(%x: Tensor[(4,), float32]) -> Tensor[(4,), float32]"));
  EXPECT_THAT(typed("def @id<s: Shape, bt: BaseType>(%x: Tensor<bt, s>) { %x }\n"
                    "def @main(%x: Tensor[(n, 3), int8]) { @id(%x) }"),
              HasSubstr("def @main(%x: Tensor[(n, 3), int8]) -> Tensor[(n, 3), int8]"));
  EXPECT_THAT(typed("def @pick[A](%x: A, %y: A) -> A { %x } def @main(%x: int8, %y: bool) { @pick(%x, %y) }"),
              StartsWith("error[TypeError]: argument 1 of @pick is Tensor[(), bool], expected Tensor[(), int8]"));
}

TEST(Infer, UnknownDimensionsAreNamedAtTheirFirstUse) {
  EXPECT_EQ(typed("def @f(%x: Tensor[ndim=2, float32]) { add(%x, %x) }"),
            "def @f(%x: Tensor[ndim=2, float32]) -> Tensor[ndim=2, float32] {\n"
            "  let %x_1 = match_cast(%x, Tensor[(d, d_1), float32]);\n"
            "  let %t: Tensor[(d, d_1), float32] = add(%x_1, %x_1);\n"
            "  %t\n"
            "}\n");
  EXPECT_THAT(typed("def @f(%x: Tensor) { add(%x, %x) }"), HasSubstr("match_cast"));
}

TEST(Infer, WhatIsOnlyPossibleIsCheckedAtRunTime) {
  EXPECT_THAT(typed("def @f(%x: Object) -> int32 { %x }"), HasSubstr("match_cast(%x, Tensor[(), int32])"));
  EXPECT_THAT(typed("def @f(%x: Object) { let %y: int32 = %x; %y }"), HasSubstr("match_cast(%x, Tensor[(), int32])"));
  EXPECT_THAT(typed("def @f(%x: int8) -> int32 { %x }"),
              StartsWith("error[TypeError]: the result is Tensor[(), int8], expected Tensor[(), int32]"));
}

TEST(Infer, BranchesJoinByLeastUpperBound) {
  EXPECT_THAT(
      typed("def @f(%c: bool, %x: Tensor[(3, 4), int8], %y: Tensor[(3, n), int8]) { if (%c) { %x } else { %y } }"),
      HasSubstr("-> Tensor[ndim=2, int8]"));
}

TEST(Infer, ShortCircuitOperatorsAreElementwiseAboveRankZero) {
  EXPECT_THAT(typed("def @f(%a: Tensor[(3,), bool], %b: bool) { %a && %b }"), HasSubstr("logical_and(%a, %b)"));
  EXPECT_THAT(typed("def @f(%a: bool, %b: bool) { %a || %b }"), HasSubstr("if (%a)"));
  EXPECT_THAT(typed("def @f(%a: bool, %b: int32) { dataflow { let %c = %a && 1 / %b == 0; output(%c); } %c }"),
              StartsWith("error[WellFormedness.7]"));
}

TEST(Infer, PureFunctionsCallNothingImpure) {
  EXPECT_THAT(typed("def @f(%x: Object) { extern(\"g\")(%x) }"),
              StartsWith("error[TypeError]: extern(\"g\") is impure, the function that calls it is pure"));
  EXPECT_THAT(typed("impure def @f(%x: Object) { dataflow { let %y = extern(\"g\")(%x); output(%y); } %y }"),
              StartsWith("error[WellFormedness.7]"));
  EXPECT_THAT(typed("def @f(%x: Object) attrs {force_pure=True} { extern(\"g\", int32)(%x) }"),
              HasSubstr("-> Tensor[(), int32]"));
}

TEST(Infer, CallsAreHeldAgainstSignatures) {
  const std::string g = "def @g(%x: Tensor[(n, n), float32]) { %x }\n";
  EXPECT_THAT(typed(g + "def @f(%x: Tensor[(2, 3), float32]) { @g(%x) }"), StartsWith("error[ShapeMismatch]"));
  EXPECT_THAT(typed(g + "def @f(%x: Tensor[(2, 2), int8]) { @g(%x) }"), StartsWith("error[TypeError]"));
  EXPECT_THAT(typed(g + "def @f() { @g() }"), StartsWith("error[ArityMismatch]: @g takes 1 arguments, 0 are given"));
  EXPECT_THAT(typed("def @f(%x: (int8, bool)) { %x.2 }"),
              StartsWith("error[IndexOutOfRange]: projection .2 of a tuple with 2 fields"));
}

TEST(Infer, CallTirIsHeldAgainstItsPrimFunc) {
  const std::string scale =
      "prim_func @scale(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) { for i in k { B[i] = A[i] * 2f32; } }\n";
  EXPECT_THAT(typed(scale + "def @f(%x: Tensor[(n,), float32]) { call_tir(@scale, (%x,), Tensor[(n,), float32]) }"),
              HasSubstr("-> Tensor[(n,), float32]"));
  EXPECT_THAT(typed(scale + "def @f(%x: Tensor[(3,), float32]) { call_tir(@scale, (%x,), Tensor[(4,), float32]) }"),
              StartsWith("error[ShapeMismatch]: call_tir: output 0 of @scale"));
  EXPECT_THAT(typed(scale + "def @f(%x: Tensor[(3,), int8]) { call_tir(@scale, (%x, %x), Tensor[(3,), float32]) }"),
              StartsWith("error[ArityMismatch]: call_tir: @scale has 1 inputs, 2 are given"));
}

TEST(Infer, ErrorsDoNotCascade) {
  EXPECT_EQ(typed("def @f(%x: Tensor[(2, 3), float32]) { let %y = matmul(%x, %x); let %z = add(%y, %y); @g(%z) }\n"
                  "def @g(%x: int8) { %x }"),
            "error[ShapeMismatch]: matmul: inner dimensions differ: %x has 3, %x has 2\n"
            "  --> test.relax:1:48\n"
            "      |\n"
            "    1 | def @f(%x: Tensor[(2, 3), float32]) { let %y = matmul(%x, %x); let %z = add(%y, %y); @g(%z) }\n"
            "      |                                                ^~~~~~~~~~~~~~\n");
}

}  // namespace
}  // namespace ingot::analysis
