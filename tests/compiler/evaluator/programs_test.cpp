#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/analysis/infer.h"
#include "compiler/analysis/normalize.h"
#include "compiler/analysis/well_formed.h"
#include "compiler/evaluator/evaluator.h"
#include "compiler/text/parser.h"
#include "runtime/tensor/tensor_text.h"
#include "runtime/tensor/value_text.h"

// Programs of the language from text to value: the samples of the specification and what they lead to.
namespace ingot::evaluator {
namespace {

std::string run(const std::string& text, const std::vector<std::string>& inputs = {}) {
  ir::Diagnostics diagnostics;
  try {
    const auto source = std::make_shared<const ir::Source>(ir::Source{"test.relax", text});
    ir::Module module = text::parse_module(source, diagnostics);
    diagnostics.throw_if_errors();
    analysis::check_well_formed(module, diagnostics);
    diagnostics.throw_if_errors();
    module = analysis::infer(analysis::normalize(module), diagnostics);
    diagnostics.throw_if_errors();
    std::vector<Value> args;
    for (const auto& input : inputs) args.push_back(to_value(parse_tensor(input)));
    std::string logged;
    Options options;
    options.log = [&](std::string_view line) { logged += std::string(line) + "|"; };
    const Value value = evaluate(module, "main", args, options);
    return logged + value_text(value);
  } catch (const ir::CompileError& error) {
    return render(error.errors());
  } catch (const Error& error) {
    return error.label() + ": " + error.what();
  }
}

TEST(Programs, Recursion) {
  EXPECT_EQ(run("def @main(%n: int32) -> int32 { if (%n == 0) { 1 } else { %n * @main(%n - 1) } }", {"i32=5"}),
            "i32=120");
  EXPECT_EQ(run("def @ackermann(%m : Tensor[(), int32], %n : Tensor[(), int32]) -> Tensor[(), int32] {\n"
                "    if (%m == 0) {\n        %n + 1\n    } else if (%m > 0 && %n == 0) {\n"
                "        @ackermann(%m - 1, 1)\n    } else {\n"
                "        @ackermann(%m - 1, @ackermann(%m, %n - 1))\n    }\n}\n"
                "def @main() { @ackermann(2, 3) }"),
            "i32=9");
  EXPECT_EQ(run("def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
                "def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }\n"
                "def @main() { (@even(10), @odd(10)) }"),
            "(bool=1, bool=0)");
}

TEST(Programs, EarlyFactorial) {
  EXPECT_EQ(run("def @main() { let fact = fun (x : Float) -> Float { if (x == 0) { 1 } else { x * fact(x - 1) } }; "
                "fact(10) }"),
            "f32=3628800");
}

TEST(Programs, ShadowingAndGraphs) {
  EXPECT_EQ(run("def @main() { let %a = 1; let %b = 2 * %a; let %a = %a + %a; %a + %b }"), "i32=4");
  EXPECT_EQ(
      run("def @main(%a: float32, %b: float32) {\n  %1 = %a + %b\n  %2 = %1 + %1\n  %2 * %2\n}", {"f32=1", "f32=2"}),
      "f32=36");
  EXPECT_EQ(run("impure def @main(%c: bool) {\n  %1 = extern(\"ingot.log\")(\"once\", 1)\n"
                "  if (%c) { (%1, %1) } else { (%1, 2) } }",
                {"bool=true"}),
            "once|(i32=1, i32=1)");
}

TEST(Programs, MulAdd) {
  EXPECT_EQ(run("def @muladd(%x, %y, %z) {\n  %1 = mul(%x, %y)\n  %2 = add(%1, %z)\n  %2\n}\n"
                "def @myfunc(%x) {\n  %1 = @muladd(%x, 1, 2)\n  %2 = @muladd(%1, 2, 3)\n  %2\n}\n"
                "def @main(%x: int32) { @myfunc(%x) }",
                {"i32=5"}),
            "i32=17");
  EXPECT_EQ(run("def @myfunc(%x) {\n  %1 = equal(%x, 1)\n   if (%1) {\n      %x\n   } else {\n     %2 = sub(%x, 1)\n"
                "     %3 = @myfunc(%2)\n      %4 = add(%3, %3)\n      %4\n  }\n}\n"
                "def @main(%x: int32) { @myfunc(%x) }",
                {"i32=4"}),
            "i32=8");
}

TEST(Programs, Closures) {
  EXPECT_EQ(run("def @main() {\nlet %g = fn() {\n  let %x = Constant(0, (2, 2), float32);\n"
                "  // %x is a free variable in the below function\n  fn(%y) { %y * %x }\n};\n"
                "let %f = %g();\nlet %x = Constant(1, (2, 2), float32);\n%f(%x)\n}"),
            "2x2xf32=0 0 0 0");
  EXPECT_EQ(run("def @main() { let %c = 1;\nlet %f = fn(%x : Tensor[(), float32], %y : Tensor[(), float32]) { %x + %y "
                "+ %c };\n"
                "%f(10, 11) }"),
            "f32=22");
  EXPECT_EQ(run("def @adder(%n: int32) { fn(%x: int32) { %x + %n } }\n"
                "def @twice(%f: fn(int32) -> int32, %x: int32) { %f(%f(%x)) }\n"
                "def @main() { let %fs = (@adder(1), @adder(10)); @twice(%fs.0, %fs.1(5)) }"),
            "i32=17");
  EXPECT_EQ(run("def @main(%x: Tensor[(n,), float32]) { let %f = fn() { shape(n, n * 2) }; %f() }", {"3xf32=1 2 3"}),
            "shape(3, 6)");
}

TEST(Programs, TuplesAndProjections) {
  EXPECT_EQ(run("def @main(%a : Tensor[(2,), float32], %b : float32, %c : Tensor[(3,), float32]) {\n"
                "    let %tup = (%a, %b);\n    ((%tup.0 + %tup.1), %c)\n}",
                {"2xf32=1 2", "f32=10", "3xf32=1 2 3"}),
            "(2xf32=11 12, 3xf32=1 2 3)");
  EXPECT_EQ(run("def @main() { (1, (2.5, True)).1.1 }"), "bool=1");
}

TEST(Programs, MatchCastBindsDimensions) {
  const std::string text =
      "def @main(%x: Tensor) { let %m = match_cast(%x, Tensor[(n, k), float32]); (reshape(%m, shape(n * k)), shape(n, "
      "k)) }";
  EXPECT_EQ(run(text, {"2x3xf32=1 2 3 4 5 6"}), "(6xf32=1 2 3 4 5 6, shape(2, 3))");
  EXPECT_THAT(run(text, {"2xf32=1 2"}), testing::StartsWith("CastFailed"));
}

TEST(Programs, ShortCircuit) {
  EXPECT_EQ(run("def @main(%n: int32) { %n != 0 && 10 / %n > 3 }", {"i32=0"}), "bool=0");
  EXPECT_EQ(run("def @main(%n: int32) { %n == 0 || 10 / %n > 3 }", {"i32=2"}), "bool=1");
}

TEST(Programs, CallTir) {
  EXPECT_EQ(run("prim_func @scale(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) { for i in k { B[i] = A[i] * "
                "2f32; } }\n"
                "def @main(%x: Tensor[(n, m), float32]) { call_tir(@scale, (reshape(%x, shape(n * m)),), Tensor[(n * "
                "m,), float32]) }",
                {"2x2xf32=1 2 3 4"}),
            "4xf32=2 4 6 8");
}

TEST(Programs, EntryChecks) {
  const std::string text = "def @main(%x: Tensor[(n, n), float32]) { %x }";
  EXPECT_EQ(run(text, {"1x1xf32=5"}), "1x1xf32=5");
  EXPECT_THAT(run(text, {"1x2xf32=5 6"}), testing::StartsWith("ShapeMismatch"));
  EXPECT_THAT(run(text, {"1x1xi8=5"}), testing::StartsWith("TypeError"));
  EXPECT_EQ(run("def @main(%x: Tensor[(m * n,), int32], %y: Tensor[(m, n), int32]) { shape(m, n) }",
                {"6xi32=1 2 3 4 5 6", "2x3xi32=1 2 3 4 5 6"}),
            "shape(2, 3)");
}

TEST(Programs, EvaluationIsDepthFirstFromLeftToRight) {
  EXPECT_EQ(run("impure def @log(%s: Object, %v: int32) -> int32 { extern(\"ingot.log\", int32)(%s, %v) }\n"
                "impure def @main() { (@log(\"a\", 1) + @log(\"b\", 2)) * @log(\"c\", 3) - @log(\"d\", 4) }"),
            "a|b|c|d|i32=5");
}

TEST(Programs, LiteralsOfEveryDtype) {
  EXPECT_EQ(run("def @main() { (127i8 + 1i8, 200u8 + 100, 7 / 2, -7 / 2, -7 % 3, 1.5 * 2) }"),
            "(i8=-128, u8=44, i32=3, i32=-3, i32=-1, f32=3)");
  EXPECT_THAT(run("def @main(%x: int32) { 1 / %x }", {"i32=0"}), testing::StartsWith("DivisionByZero"));
}

}  // namespace
}  // namespace ingot::evaluator
