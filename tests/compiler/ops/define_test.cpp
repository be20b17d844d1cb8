#include <gtest/gtest.h>

#include "runtime/tir/text.h"
#include "tests/compiler/ops/test_call.h"

namespace ingot::ops {
namespace {

const SymVar n = make_sym_var("n"), m = make_sym_var("m");

std::vector<int64_t> ints(std::initializer_list<int64_t> values) { return values; }

std::string text(const TestCall& call) {
  const auto meaning = call.define();
  return tir::print(*std::get<tir::PrimFuncRef>(meaning));
}

TEST(Define, ElementwiseOperators) {
  for (const auto& op : all()) {
    if (op.scalar_instruction.empty() && op.params.size() > 3) continue;
    for (const DType dtype : {DType::Float32, DType::Float16, DType::Int64, DType::UInt8, DType::Bool}) {
      std::vector<StructInfo> infos;
      for (const auto param : op.params)
        infos.push_back(tensor_info(param == "condition" ? DType::Bool : dtype, {n, 3}));
      const TestCall call(op.name, infos);
      if (call.infer().find("Error") != std::string::npos || call.infer().find(": ") != std::string::npos) continue;
      if (op.name.starts_with("call_") || op.name == "view" || op.name == "make_closure") continue;
      EXPECT_NO_THROW(call.define()) << op.name << " of " << dtype_name(dtype);
    }
  }
}

TEST(Define, BroadcastChecksWhatIsNotProved) {
  EXPECT_EQ(
      text({"add", {f32({n}), f32({4})}}),
      R"(prim_func @add(x0: Buffer[(n,), float32], x1: Buffer[(4,), float32], y: Buffer[(select(n == 4 || n == 1, 4, -1),), float32]) {
  for i0 in select(n == 4 || n == 1, 4, -1) parallel {
    y[i0] = x0[select(n == 1, 0, i0)] + x1[i0];
  }
}
)");
}

TEST(Define, SizesFollowFromBuffers) {
  EXPECT_EQ(text({"multiply", {f32({PrimExpr(n) * 2}), f32({PrimExpr(n) * 2})}}),
            R"(prim_func @multiply(x0: Buffer[(d0,), float32], x1: Buffer[(d0,), float32], y: Buffer[(d0,), float32]) {
  for i0 in d0 parallel {
    y[i0] = x0[i0] * x1[i0];
  }
}
)");
  EXPECT_EQ(text({"broadcast_to", {f32({1}), shape_info({PrimExpr(n) * 2})}}),
            R"(prim_func @broadcast_to(x0: Buffer[(1,), float32], y: Buffer[(d0,), float32]) {
  for i0 in d0 parallel {
    y[i0] = x0[0];
  }
}
)");
}

TEST(Define, OtherValuesBecomeScalars) {
  EXPECT_EQ(text({"shape_to_tensor", {shape_info({PrimExpr(n) * 2, 3})}}),
            R"(prim_func @shape_to_tensor(y: Buffer[(2,), int64], n: int64) {
  y[0] = index(n * 2);
  y[1] = 3i64;
}
)");
}

TEST(Define, ReshapesAreViewsButScalarsAreCopied) {
  EXPECT_TRUE(std::holds_alternative<ir::View>(TestCall("squeeze", {f32({1, n})}).define()));
  EXPECT_TRUE(std::holds_alternative<ir::View>(TestCall("transpose", {f32({1, n})}).define()));
  EXPECT_TRUE(std::holds_alternative<tir::PrimFuncRef>(TestCall("squeeze", {f32({1, 1})}).define()));
}

TEST(Define, LoopsOfEveryFamilyPassTheChecker) {
  const std::vector<TestCall> calls = {
      {"concat", {tuple_info({f32({n}), f32({m})})}},
      {"split", {f32({n})}, {{"indices_or_sections", int64_t{2}}}},
      {"split", {f32({PrimExpr(n) * 6 + 3})}, {{"indices_or_sections", int64_t{3}}}},
      {"strided_slice", {f32({PrimExpr(n) * 2 + 1})}, {{"begin", ints({-3})}, {"end", ints({-1})}}},
      {"concat", {tuple_info({f32({PrimExpr(n) * 2}), f32({PrimExpr(n) * 3})})}},
      {"take", {f32({n, 4}), i64({m})}, {{"axis", int64_t{0}}}},
      {"take", {f32({n, 4}), i64({m})}},
      {"gather_elements", {f32({n, 4}), i64({2, 4})}},
      {"gather_nd", {f32({n, 4, 5}), i64({m, 2})}},
      {"softmax", {f32({n, 4})}},
      {"log_softmax", {f32({n, 4})}, {{"axis", int64_t{0}}}},
      {"argmax", {f32({n, 4})}, {{"axis", int64_t{1}}}},
      {"argmin", {f32({n, 4})}},
      {"variance", {tensor_info(DType::Float16, {n, 4})}, {{"axis", int64_t{1}}}},
      {"cumsum", {f32({n, 4})}, {{"axis", int64_t{1}}, {"reverse", true}, {"exclusive", true}}},
      {"pad", {f32({n})}, {{"pad_width", ints({1, 2})}, {"pad_mode", std::string("reflect")}}},
      {"strided_slice", {f32({n})}, {{"begin", ints({-1})}, {"end", ints({INT64_MIN})}, {"strides", ints({-2})}}},
      {"tile", {f32({n, 2})}, {{"reps", ints({2, 3})}}},
      {"repeat", {f32({n, 2})}, {{"repeats", int64_t{3}}, {"axis", int64_t{0}}}},
      {"flip", {f32({n, 2})}},
      {"layer_norm", {f32({n, 8}), f32({8}), f32({8})}},
      {"rms_norm", {f32({n, 8}), f32({8})}},
      {"group_norm", {f32({n, 8, m}), f32({8}), f32({8})}, {{"num_groups", int64_t{2}}}},
      {"instance_norm", {f32({n, 8, m}), f32({8}), f32({8})}},
      {"batch_norm", {f32({n, 8}), f32({8}), f32({m}), f32({8}), f32({8})}},
      {"conv2d",
       {tensor_info(DType::Float64, {n, 4, 9, m}), tensor_info(DType::Float64, {6, 2, 3, 3})},
       {{"groups", int64_t{2}}, {"padding", ints({1, 1})}}},
      {"avg_pool2d",
       {tensor_info(DType::Float64, {n, 4, 9, m})},
       {{"pool_size", ints({3, 3})}, {"padding", ints({1})}}},
      {"one_hot", {i64({n}), f32({}), f32({})}, {{"depth", int64_t{4}}}},
      {"upsampling", {f32({n, 1, 2, 2})}, {{"scale_h", int64_t{2}}}},
      {"zeros", {shape_info({PrimExpr(n) * 2})}},
      {"full", {f32({}), shape_info({n})}},
      {"arange", {shape_info({n})}},
      {"shape_to_tensor", {shape_info({PrimExpr(n) * 2, 3})}},
      {"size", {f32({n, m})}},
  };
  for (const auto& call : calls)
    EXPECT_NO_THROW(EXPECT_TRUE(std::holds_alternative<tir::PrimFuncRef>(call.define()))) << call.infer();
}

}  // namespace
}  // namespace ingot::ops
