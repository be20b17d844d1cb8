#include "vm/loader/compiled_check.h"

#include <gtest/gtest.h>

#include "runtime/base/stack.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"
#include "vm/verifier/value_class.h"

namespace ingot::vm {
namespace {

// What passes a check is of the class that the verifier goes on with.
TEST(CompiledCheck, PassesOnlyTheVerifiersClass) {
  const int64_t two = 2;
  const std::vector<Value> values = {
      Value(),
      Value::scalar(DType::Float32, 1.5f),
      Value::scalar(DType::Int32, 1),
      Value::prim(int64_t{3}),
      Value::prim(2.5),
      Value::dtype(DType::Int8),
      Value(make_tensor(nullptr, DType::Float32, {})),
      Value(make_tensor(nullptr, DType::Float32, {&two, 1})),
      Value(make_tensor(nullptr, DType::String, {})),
      Value(ingot::make_shape(nullptr, {&two, 1})),
      Value(ingot::make_tuple(nullptr, {})),
      Value(ingot::make_string(nullptr, "text")),
  };
  const std::vector<StructInfo> infos = {
      object_info(),
      tensor_info(),
      tensor_info(DType::Float32),
      tensor_info(DType::Float32, 0u),
      tensor_info(DType::None, 0u),
      tensor_info(DType::Float32, std::vector<PrimExpr>{}),
      tensor_info(DType::Float32, 1u),
      tensor_info(DType::String, 0u),
      shape_info(),
      shape_info(1u),
      prim_info(DType::Int64),
      prim_info(DType::Float64),
      tuple_info({}),
      packed_func_info(object_info()),
  };
  size_t passed = 0;
  for (const StructInfo& info : infos) {
    const CompiledCheck check({info, {}});
    for (const Value& value : values) {
      if (!check.matches(value.slot(), {})) continue;
      ++passed;
      const DType dtype = value.kind() == Kind::Tensor ? value.get<TensorObject>()->dtype : value.slot().dtype;
      EXPECT_TRUE(ValueClass::of(value.kind(), dtype).within(class_of(info)))
          << to_text(info) << " accepts " << kind_name(value.kind());
    }
  }
  EXPECT_EQ(passed, 30u);
}

// Sanitizers make frames larger.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kSmallStack = size_t{8} << 20;
#else
constexpr size_t kSmallStack = size_t{256} << 10;
#endif

TEST(CompiledCheck, TakesDeeplyNestedTypesOnASmallStack) {
  constexpr size_t kDepth = 1900;
  run_with_stack(kSmallStack, [] {
    StructInfo info = tensor_info(DType::Int32, std::vector<PrimExpr>{});
    Value value = Value::scalar(DType::Int32, 1);
    for (size_t i = 0; i < kDepth; ++i) {
      info = tuple_info({info});
      value = Value(ingot::make_tuple(nullptr, {&value, 1}));
    }
    EXPECT_EQ(to_text(info).size(), 3 * kDepth + to_text(tensor_info(DType::Int32, std::vector<PrimExpr>{})).size());
    EXPECT_TRUE(CompiledCheck({info, {}}).matches(value.slot(), {}));
  });
}

}  // namespace
}  // namespace ingot::vm
