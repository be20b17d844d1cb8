#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tir/builder.h"
#include "tests/runtime/kernels/kernel_case.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using tir::ExprOp;
using tir::FuncBuilder;
using tir::Indices;

// y = x * factor, for any number of rows.
tir::PrimFuncRef scale() {
  const PrimExpr rows(make_sym_var("n"));
  FuncBuilder f("scale");
  const auto x = f.input("x", DType::Float32, {rows, PrimExpr(2)});
  const auto y = f.output("y", DType::Float32, {rows, PrimExpr(2)});
  const auto factor = f.scalar("factor", DType::Float32);
  f.compute(y, [&](const Indices& i) { return tir::binary(ExprOp::Mul, f.load(x, i), tir::let_value(factor)); });
  return std::make_shared<const tir::PrimFunc>(f.finish());
}

KernelCase scale_case() {
  return {.call = {.contract = Contract::prim_func, .prim_func = scale()},
          .inputs = {{.dims = {3, 2}, .values = {1, 2, 3, 4, 5, 6}}, {.dims = {}, .values = {10}}},
          .output = {.dims = {3, 2}}};
}

TEST(PrimFuncKernel, RunsTheFunction) {
  const auto result = run_case(scale_case());
  ASSERT_TRUE(result);
  EXPECT_THAT(result->values, ElementsAre(10, 20, 30, 40, 50, 60));
  EXPECT_EQ(result->implementation, "interpreter");
  EXPECT_THAT(result->in_place, ElementsAre(0));
}

TEST(PrimFuncKernel, ChecksOperands) {
  KernelCase c = scale_case();
  c.inputs[0].dims = {6};
  EXPECT_EQ(prepare_error(c), "ShapeMismatch: scale: x has shape (6,) of rank 1, rank 2 is needed");
  c = scale_case();
  c.output.dtype = DType::Float64;
  EXPECT_EQ(prepare_error(c), "TypeError: scale: y has dtype float64, float32 is needed");
  c = scale_case();
  c.inputs.pop_back();
  EXPECT_EQ(prepare_error(c), "ArityMismatch: scale: takes 1 inputs, 1 scalars and 1 outputs, the call has 1 and 1");
  c = scale_case();
  c.inputs[1] = {.dims = {1}, .values = {10}};
  EXPECT_EQ(prepare_error(c), "ShapeMismatch: scale: factor has shape (1,), a scalar is needed");
  c = scale_case();
  c.output.dims = {4, 2};
  EXPECT_THAT(prepare_error(c), testing::StartsWith("ShapeMismatch: scale: "));
  c = scale_case();
  c.call.prim_func = nullptr;
  EXPECT_EQ(prepare_error(c), "CorruptFile: prim_func: the call names no function");
}

}  // namespace
}  // namespace ingot::test
