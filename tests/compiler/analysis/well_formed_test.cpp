#include "compiler/analysis/well_formed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compiler/analysis/frontend.h"

namespace ingot::analysis {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Case {
  const char* name;
  const char* accepted;
  const char* rejected;
  const char* error;
};

class WellFormed : public testing::TestWithParam<Case> {};

TEST_P(WellFormed, AcceptsAndRejects) {
  EXPECT_THAT(printed(GetParam().accepted, ir::Form::Parsed), testing::Not(HasSubstr("error[")));
  EXPECT_THAT(printed(GetParam().rejected, ir::Form::Parsed), StartsWith(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, WellFormed,
    testing::Values(
        Case{"DataflowVar", "def @f(%x) { dataflow { let %y = exp(%x); output(%y); } %y }",
             "def @f(%x) { dataflow { let %y = exp(%x); } %y }",
             "error[WellFormedness.1]: %y is used outside of its dataflow block"},
        Case{"OwnDefinition", "def @f(%x) { let %y = exp(%x); %y }", "def @f(%x) { let %y = exp(%y); %y }",
             "error[WellFormedness.2]: %y is used in its own definition"},
        Case{"BeforeBound", "def @f(%x) { let %y = %x; let %z = %y; %z }",
             "def @f(%x) { let %z = %y; let %y = %x; %z }", "error[WellFormedness.3]: %y is used before it is bound"},
        Case{"Undefined", "def @f(%x) { %x }", "def @f(%x) { %x + %y }", "error[WellFormedness.2]: %y is not defined"},
        Case{"ResultAnnotation", "def @f(%x: Tensor[(n,)]) -> Tensor[(n,)] { %x }",
             "def @f(%x: Tensor[(n,)]) -> Tensor[(m,)] { %x }",
             "error[WellFormedness.4]: the result annotation uses the shape variable m"},
        Case{"UnboundInShape", "def @f(%x: Tensor[(n,)]) { shape(n) }", "def @f(%x: Tensor[(n,)]) { shape(m) }",
             "error[WellFormedness.5]: the shape variable m is not bound where a shape uses it"},
        Case{"UnboundInCast", "def @f(%x: Object) { match_cast(%x, Tensor[(n, n * 2)]) }",
             "def @f(%x: Object) { match_cast(%x, Tensor[(n * 2,)]) }",
             "error[WellFormedness.5]: the shape variable n is not bound, and n * 2 does not bind it"},
        Case{"Signature", "def @f(%x: Tensor[(m * n,)], %y: Tensor[(m, n)]) { %x }",
             "def @f(%x: Tensor[(m * n,)], %y: Tensor[(m,)]) { %x }",
             "error[WellFormedness.6]: the shape variable n stands alone in no dimension of a parameter"},
        Case{"IfInDataflow", "def @f(%c: bool) { if (%c) { 1 } else { 2 } }",
             "def @f(%c: bool) { dataflow { let %y = if (%c) { 1 } else { 2 }; output(%y); } %y }",
             "error[WellFormedness.7]: an if inside a dataflow block"},
        Case{"RecursionInDataflow", "def @f(%x: int32) -> int32 { let %y = @f(%x); %y }",
             "def @f(%x: int32) -> int32 { dataflow { let %y = @g(%x); output(%y); } %y }"
             "def @g(%x: int32) -> int32 { @f(%x) }",
             "error[WellFormedness.7]: a recursive call of @g inside a dataflow block"},
        Case{"OpAsValue", "def @f(%x) { exp(%x) }", "def @f(%x) { (exp, %x) }",
             "error[WellFormedness.9]: an operator may only be called"},
        Case{"Ndim", "def @f(%x: Tensor[(n, m), ndim=2, float32]) { %x }",
             "def @f(%x: Tensor[(n, m), ndim=3, float32]) { %x }",
             "error[WellFormedness.10]: a tensor type says ndim=3 and lists 2 dimensions"},
        Case{"CapturedDataflowVar",
             "def @f(%x: int32) { let %y = exp(%x); dataflow { let %g = fn() { %y }; output(%g); } %g }",
             "def @f(%x: int32) { dataflow { let %y = exp(%x); let %g = fn() { %y }; output(%g); } %g }",
             "error[WellFormedness.11]: a function in a dataflow block uses %y of the block"},
        Case{"Exported", "private def @g() { 1 } def @f() { 1 }", "private def @g() { 1 }",
             "error[WellFormedness.12]: no function of the module is exported"},
        Case{"GlobalSymbol", "def @f() attrs {global_symbol=\"f\"} { 1 }", "def @f() attrs {global_symbol=\"g\"} { 1 }",
             "error[WellFormedness.13]: the global_symbol of @f must be \"f\""},
        Case{"TensorAnnotation", "def @f(%x: Tensor[(n,)]) { let %y: Tensor[(n,)] = %x; %y }",
             "def @f(%x: Tensor[(n,)]) { let %y: Tensor[(m,)] = %x; %y }",
             "error[WellFormedness.14]: the shape variable m of an annotation is not in scope"},
        Case{"ShapeAnnotation", "def @f(%x: Shape[(n,)]) { let %y: Shape[(n,)] = %x; %y }",
             "def @f(%x: Shape[(n,)]) { let %y: Shape[(m,)] = %x; %y }", "error[WellFormedness.15]"},
        Case{"PrimAnnotation", "def @f(%x: Prim[int64, n]) { let %y: Prim[int64, n] = %x; %y }",
             "def @f(%x: Prim[int64, n]) { let %y: Prim[int64, m] = %x; %y }", "error[WellFormedness.16]"},
        Case{"PrimDtype", "def @f(%x: Prim[float32]) { %x }", "def @f(%x: Prim[string]) { %x }",
             "error[WellFormedness.19]"},
        Case{"Width", "def @f(%x: Tensor[(3,), float16]) { %x }", "def @f(%x: Tensor[(3,), float8]) { %x }",
             "error[WellFormedness.20]: there is no dtype float8"},
        Case{"ForcePure", "def @f() attrs {force_pure=True} { 1 }", "impure def @f() attrs {force_pure=True} { 1 }",
             "error[WellFormedness.21]"},
        Case{"PrimValueDtype", "def @f(%x: Prim[int64, n]) { %x }", "def @f(%x: Prim[int32, n]) { %x }",
             "error[WellFormedness.22]: the value n of a Prim is int64, its dtype int32"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(WellFormedness, AllViolationsAreReported) {
  const std::string errors = printed("def @f(%x) { let %y = %a; let %z = shape(m); @missing(%b) }", ir::Form::Parsed);
  for (const char* expected :
       {"%a is not defined", "the shape variable m", "@missing is not defined", "%b is not defined"})
    EXPECT_THAT(errors, HasSubstr(expected));
}

TEST(WellFormedness, VariablesThatOnlyCppCanMisuse) {
  const auto var = std::make_shared<const ir::Var>("v", nullptr, false, ir::Span{});
  const ir::Expr unit = std::make_shared<ir::Tuple>(std::vector<ir::Expr>{}, ir::Span{});
  const auto report = [](ir::Expr body, std::vector<ir::VarRef> params) {
    ir::Module module;
    module.set(
        {"f",
         std::make_shared<ir::Function>(std::move(params), std::move(body), nullptr, true, ir::Attrs{}, ir::Span{}),
         nullptr, true, ir::Span{}});
    ir::Diagnostics diagnostics;
    check_well_formed(module, diagnostics);
    return render(diagnostics.all());
  };
  const ir::Expr twice = std::make_shared<ir::Seq>(
      std::vector<ir::BindingBlock>{{false, {{var, unit, nullptr, {}}, {var, unit, nullptr, {}}}}}, var, ir::Span{});
  EXPECT_THAT(report(twice, {}), StartsWith("error[WellFormedness.2]: %v is bound twice"));
  StructInfoNode derived{
      .kind = InfoKind::Func, .fields = {object_info()}, .has_params = false, .result = object_info()};
  const auto param =
      std::make_shared<const ir::Var>("p", std::make_shared<const StructInfoNode>(derived), false, ir::Span{});
  EXPECT_THAT(report(unit, {param}), StartsWith("error[WellFormedness.17]"));
  EXPECT_THAT(report(std::make_shared<ir::PrimValue>(PrimExpr(), ir::Span{}), {}),
              StartsWith("error[WellFormedness.18]"));
}

}  // namespace
}  // namespace ingot::analysis
