#include "runtime/tensor/value_text.h"

#include <vector>

#include <gtest/gtest.h>

#include "runtime/object/objects.h"
#include "runtime/tensor/tensor_text.h"

namespace ingot {
namespace {

template <typename... Fields>
Value tuple(Fields... fields) {
  std::vector<Value> values{std::move(fields)...};
  return Value(ingot::make_tuple(nullptr, values));
}

TEST(ValueText, ShowsEveryKind) {
  EXPECT_EQ(value_text(Value::scalar(DType::Float32, 1.5f)), "f32=1.5");
  EXPECT_EQ(value_text(Value(parse_tensor("3xi8=1 2 3")), 2), "3xi8=1 2 ...");
  EXPECT_EQ(value_text(Value::prim(int64_t{3})), "prim(3)");
  EXPECT_EQ(value_text(Value::prim(2.5)), "prim(2.5)");
  EXPECT_EQ(value_text(Value::prim(true)), "prim(true)");
  EXPECT_EQ(value_text(Value::dtype(DType::Float32)), "dtype(float32)");
  EXPECT_EQ(value_text(Value()), "none");
  EXPECT_EQ(value_text(Value(make_shape(nullptr, std::vector<int64_t>{2, 3}))), "shape(2, 3)");
  EXPECT_EQ(value_text(Value(make_string(nullptr, "a \"b\""))), "a \"b\"");
  EXPECT_EQ(value_text(Value(make_closure(nullptr, 0, {}))), "<closure>");
  EXPECT_EQ(value_text(Value(make_opaque(nullptr, nullptr))), "<opaque object>");
}

TEST(ValueText, NestsTuples) {
  EXPECT_EQ(value_text(tuple()), "()");
  EXPECT_EQ(value_text(tuple(tuple(Value::prim(int64_t{1})), tuple(), Value(make_string(nullptr, "x\n")), Value())),
            "((prim(1),), (), \"x\\n\", none)");
}

TEST(ValueText, DeepNestsDoNotRecurse) {
  Value value;
  for (int i = 0; i < 1'000'000; ++i) value = tuple(std::move(value));
  EXPECT_EQ(value_text(value).size(), 4u + 3u * 1'000'000u);
}

}  // namespace
}  // namespace ingot
