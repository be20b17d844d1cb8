#include "compiler/text/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/structural_equal.h"
#include "compiler/text/printer.h"
#include "runtime/base/stack.h"

namespace ingot::text {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ir::Module parse(const std::string& text, ir::Diagnostics& diagnostics) {
  return parse_module(std::make_shared<const ir::Source>(ir::Source{"test.relax", text}), diagnostics);
}

std::string canonical(const std::string& text) {
  ir::Diagnostics diagnostics;
  const ir::Module module = parse(text, diagnostics);
  if (diagnostics.has_errors()) return render(diagnostics.all());
  return print(module);
}

std::string errors_of(const std::string& text) {
  ir::Diagnostics diagnostics;
  parse(text, diagnostics);
  return render(diagnostics.all());
}

// The body of a function of one statement, printed.
std::string expression(const std::string& text) {
  const std::string all = canonical("def @f(%a, %b, %c) { " + text + " }");
  const std::string head = "def @f(%a, %b, %c) {\n  ";
  if (!all.starts_with(head)) return all;
  return all.substr(head.size(), all.size() - head.size() - 3);
}

// What parses, prints and parses again to the same module, whatever the spelling.
class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, PrintsToTheSameModule) {
  ir::Diagnostics diagnostics;
  const ir::Module module = parse(GetParam(), diagnostics);
  ASSERT_FALSE(diagnostics.has_errors()) << render(diagnostics.all());
  const std::string printed = print(module);
  const ir::Module again = parse(printed, diagnostics);
  ASSERT_FALSE(diagnostics.has_errors()) << printed << render(diagnostics.all());
  std::string difference;
  EXPECT_TRUE(structurally_equal(module, again, &difference)) << difference << "\n" << printed;
  EXPECT_EQ(printed, print(again));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, RoundTrip,
    testing::Values(
        "def @f(%x: Tensor[(n, 784), float32], %w: Tensor[(784, 10), float32]) -> Tensor[(n, 10), float32] {\n"
        "  dataflow { let %y = matmul(%x, %w); let %p = softmax(%y, axis=-1); output(%p); }\n  %p }",
        "impure def @main(%x: Tensor, %flag: bool) -> Object {\n"
        "  let %m = match_cast(%x, Tensor[(n, m), float32]);\n"
        "  let %r = reshape(%m, shape(n * m));\n"
        "  let %e = extern(\"my.func\")(%r, prim(n + 1), \"te\\\"xt\", dtype(int8));\n"
        "  if (%flag) { %r } else { %e } }",
        "def @f(%m: int32, %n: int32) -> int32 { if (%m == 0) { %n + 1 } else if (%m > 0 && %n == 0) "
        "{ @f(%m - 1, 1) } else { @f(%m - 1, @f(%m, %n - 1)) } }",
        "def @f(%x) { let %x = %x + 1; let %x = %x * 2; %x }",
        "def @f(%x) { %1 = add(%x, %x)\n %2 = log(%1)\n %1 - %2 }",
        "def @f(%t: (float32, (int32, bool))) { (%t.0, %t.1.1, (), (%t,), (1, 2.5, True)) }",
        "def @f[A, B: Type](%f: fn(A) -> B, %x: A) -> B { %f(%x) }\ndef @g(%x) { @f<int32, int32>(@h, %x) }"
        "def @h(%x: int32) { %x }",
        "def @id<s: Shape, bt: BaseType>(%x: Tensor<bt, s>) { %x }",
        "def @f(%x: Tensor<Float, 10, 10>, %y: Tuple<Int, Bool>) where Broadcast { %x }",
        "def @f(%x: Tensor[ndim=2, float32], %s: Shape[(n, m)], %p: Prim[int64, n]) { match_cast(%x, Tensor[(n, m)]) }",
        "def @f(%s: Shape[ndim=2], %x: Tensor[%s, float32]) { %x }",
        "private impure def @\"odd name\"(%\"a b\": Object) attrs {force_pure=True, order=(1, 2), k=0.5} { %\"a b\"; "
        "() }",
        "def @f() { (Constant([1, 2], (2,), float32), Constant(0, (3, 3), int8), Constant([], (0,), bool), "
        "Constant(inf, (), float16), Constant([\"a\", \"b\"], (2,), string), -3, 300u16, 1e10f64, -0.5f, nan) }",
        "def @f(%x: Tensor[(n, m), float32]) { shape((n + 1) * m, n - (m - 1), min(n, m) / 2, select(n < m, n, m % 3)) "
        "}",
        "def @f(%c, %d) { (%c || %d) && { let %e = %c; %e } }",
        "impure def @f(%x) { call_packed(\"g\", %x); match_cast(%x, Tensor[(k,)]); prim(k * 2) }",
        "def @f(%x: Object) { let %f = fn(%n: int32) -> int32 { if (%n == 0) { 1 } else { %n * %f(%n - 1) } }; %f(3) }",
        "def @f(%x) { let %y = if (%x) { let %z = 1; %z } else { 2 }; impure fn() { %y } }"));

TEST(Parser, OperatorsAreSugarWithTheUsualPrecedence) {
  EXPECT_EQ(expression("%a + %b * %c"), "add(%a, multiply(%b, %c))");
  EXPECT_EQ(expression("%a - %b - %c"), "subtract(subtract(%a, %b), %c)");
  EXPECT_EQ(expression("%a < %b == !%c"), "equal(less(%a, %b), logical_not(%c))");
  EXPECT_EQ(expression("-%a.0 % %b"), "mod(negative(%a.0), %b)");
  EXPECT_EQ(expression("%a || %b && %c"), "(%a || (%b && %c))");
}

TEST(Parser, PercentBeforeALetterBeginsAVariable) {
  EXPECT_EQ(expression("%a % %b"), "mod(%a, %b)");
  EXPECT_EQ(expression("%a %2"), expression("%a %2"));
  EXPECT_THAT(expression("%a %b"), HasSubstr("expected ';' or '}', found '%b'"));
}

TEST(Parser, GraphBindingsEndWithTheirLine) {
  EXPECT_EQ(canonical("def @f(%x) {\n  %1 = %x +\n    %x\n  %2 = add(%1,\n   %1)\n  %2\n}"),
            "def @f(%x) {\n  %1 = add(%x, %x);\n  %2 = add(%1, %1);\n  %2\n}\n");
}

TEST(Parser, ATextMayBeginWithAByteOrderMark) {
  EXPECT_EQ(canonical("\xEF\xBB\xBF"
                      "def @f(%x) {\n  %x\n}\n"),
            "def @f(%x) {\n  %x\n}\n");
}

TEST(Parser, ProjectionsFollowEachOther) { EXPECT_EQ(expression("%a.1.1"), "%a.1.1"); }

TEST(Parser, EarlySpellingsPrintInTheCanonicalForm) {
  EXPECT_EQ(canonical("def @add(%x: Tensor<Float, 10, 10>) { let fact = fun (x : Float) -> Float { x }; fact(2) }"),
            "def @add(%x: Tensor[(10, 10), float32]) {\n"
            "  let %fact = fn(%x_1: Tensor[(), float32]) -> Tensor[(), float32] {\n"
            "    %x_1\n"
            "  };\n"
            "  %fact(2)\n"
            "}\n");
}

TEST(Parser, AttributesComeByNameOrPosition) {
  EXPECT_EQ(expression("softmax(%a, 1)"), "softmax(%a, axis=1)");
  EXPECT_EQ(expression("reshape(%a, (2, -1))"), "reshape(%a, newshape=(2, -1))");
  EXPECT_EQ(expression("nn.softmax(%a, axis=-1)"), "softmax(%a, axis=-1)");
}

TEST(Parser, ErrorsShowThePlace) {
  EXPECT_EQ(errors_of("def @f(%x) {\n  let %y = add(%x, ;\n  %y\n}\n"),
            "error[ParseError]: expected an expression, found ';'\n"
            "  --> test.relax:2:20\n"
            "      |\n"
            "    2 |   let %y = add(%x, ;\n"
            "      |                    ^\n");
}

TEST(Parser, SeveralErrorsOfOneTextAreReported) {
  const std::string errors = errors_of(
      "def @f(%x) {\n  let %y = ;\n  let %z = nonsense(%x);\n  %z\n}\ndef @g( { 1 }\ndef @h() { $ }\ndef @h() { 1 }\n");
  EXPECT_THAT(errors, HasSubstr("2:12"));
  EXPECT_THAT(errors, HasSubstr("there is no operator nonsense"));
  EXPECT_THAT(errors, HasSubstr("6:9"));
  EXPECT_THAT(errors, HasSubstr("'$' is not part of the language"));
}

TEST(Parser, AMissingElseOrResultIsExplained) {
  EXPECT_THAT(errors_of("def @f(%x) { if (%x) { 1 } }"), HasSubstr("an if needs an else branch"));
  EXPECT_THAT(errors_of("def @f(%x) { let %y = 1; }"), HasSubstr("a block must end with an expression"));
  EXPECT_THAT(errors_of("def @f(%x) { let %y = 1;"), HasSubstr("found the end of the text"));
}

TEST(Parser, LiteralsMustFitTheirSuffix) {
  EXPECT_THAT(errors_of("def @f() { 300i8 }"), StartsWith("error[TypeError]: 300 is out of range for int8"));
  EXPECT_THAT(errors_of("def @f() { 1.5i32 }"), StartsWith("error[TypeError]: 1.5 is out of range for int32"));
  EXPECT_THAT(errors_of("def @f() { 1e99f }"), StartsWith("error[TypeError]: 1e99 is out of range for float32"));
  EXPECT_EQ(errors_of("def @f() { (-128i8, 18446744073709551615u64, -9223372036854775808i64) }"), "");
}

TEST(Parser, DeepNestsAreRefusedInTime) {
  run_with_stack(size_t{64} << 20, [] {
    const std::string deep(1'000'000, '(');
    EXPECT_THAT(errors_of("def @f() { " + deep), StartsWith("error[ParseError]: expressions are nested deeper than"));
    std::string sum = "%x";
    for (int i = 0; i < 100'000; ++i) sum += " + %x";
    EXPECT_THAT(errors_of("def @f(%x) { " + sum + " }"), HasSubstr("nested deeper"));
    const std::string nest(1900, '(');
    EXPECT_EQ(errors_of("def @f(%x) { " + nest + "%x" + std::string(1900, ')') + " }"), "");
  });
}

TEST(Parser, DataflowVariablesStayVisibleOnlyWhereTheyHideNothing) {
  EXPECT_EQ(canonical("def @f(%x) { dataflow { let %x = add(%x, %x); let %y = %x; output(%y); } (%x, %y) }"),
            "def @f(%x) {\n"
            "  dataflow {\n"
            "    let %x_1 = add(%x, %x);\n"
            "    let %y = %x_1;\n"
            "    output(%y);\n"
            "  }\n"
            "  (%x, %y)\n"
            "}\n");
}

}  // namespace
}  // namespace ingot::text
