#include "runtime/checks/match.h"

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"

namespace ingot {
namespace {

const SymVar kN = make_sym_var("n");
const SymVar kK = make_sym_var("k");

Value vector_of(int64_t n) { return to_value(make_tensor(nullptr, DType::Float32, {&n, 1})); }

StructInfo vector_info(PrimExpr n) { return tensor_info(DType::Float32, {std::move(n)}); }

StructInfo no_closure(const Slot&) { return object_info(); }

std::string refusal(const Value& value, const StructInfo& info, const SymValues& values = {}) {
  try {
    require_match(value.slot(), info, values, no_closure);
    return "matches";
  } catch (const Error& error) {
    return error.label() + ": " + error.what();
  }
}

TEST(Match, SaysWhatDiffers) {
  const SymValues values = {{kN.get(), 2}};
  EXPECT_EQ(refusal(vector_of(2), vector_info(kN), values), "matches");
  EXPECT_EQ(refusal(vector_of(3), vector_info(kN), values),
            "CastFailed: the value has dimension 0 = 3, expected n = 2 (Tensor[(n,), float32])");
  EXPECT_EQ(refusal(vector_of(3), vector_info(PrimExpr(kN) * 2), values),
            "CastFailed: the value has dimension 0 = 3, expected n * 2 = 4 (n = 2) (Tensor[(n * 2,), float32])");
  EXPECT_EQ(refusal(Value::prim(true), prim_info(DType::Int64)),
            "CastFailed: the value is a prim of bool, expected Prim[int64]");
  std::vector<Value> fields = {Value::scalar(DType::Int32, 1)};
  EXPECT_EQ(refusal(Value(ingot::make_tuple(nullptr, fields)), tuple_info({shape_info()})),
            "CastFailed: the value.0 is a tensor () of int32, expected Shape ((Shape,))");
}

// What has no value because its place does not fit is not what is wrong.
TEST(Match, GoesFromLeftToRight) {
  const auto error_of = [](const std::vector<Value>& values, const SymValues& dims) -> std::string {
    const std::vector<Slot> args = {values[0].slot(), values[1].slot()};
    const std::vector<StructInfo> params = {vector_info(PrimExpr(kN) * 2), vector_info(kN)};
    const std::vector<std::string> names = {"x", "y"};
    try {
      require_arguments(args, params, names, "main", dims, no_closure);
      return "matches";
    } catch (const Error& error) {
      return error.label() + ": " + error.what();
    }
  };
  EXPECT_EQ(error_of({vector_of(4), vector_of(2)}, {{kN.get(), 2}}), "matches");
  EXPECT_EQ(error_of({vector_of(5), Value::scalar(DType::Int32, 1)}, {}),
            "TypeError: @main: %y has dtype int32, expected float32");
  EXPECT_EQ(error_of({vector_of(5), vector_of(3)}, {{kN.get(), 2}}),
            "ShapeMismatch: @main: %x has dimension 0 = 5, expected n * 2 = 4 (n = 2)");
}

TEST(Match, ClosuresHaveTheDimensionsThatTheyCaptured) {
  const StructInfo of_n = func_info({vector_info(kN)}, vector_info(kN), true);
  const StructInfo of_k = func_info({vector_info(kK)}, vector_info(kK), true);
  const StructInfo three = closure_info(of_n, {{kN.get(), 3}});
  EXPECT_EQ(to_text(three), "fn(Tensor[(3,), float32]) -> Tensor[(3,), float32]");
  EXPECT_TRUE(is_acceptable(three, of_k, {}));
  EXPECT_TRUE(is_acceptable(three, of_k, {{kK.get(), 3}}));
  EXPECT_FALSE(is_acceptable(three, of_k, {{kK.get(), 4}}));
  EXPECT_TRUE(is_acceptable(of_n, of_k, {{kK.get(), 4}}));
}

}  // namespace
}  // namespace ingot
