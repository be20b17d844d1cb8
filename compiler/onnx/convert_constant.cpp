#include "compiler/onnx/conversions.h"
#include "compiler/onnx/tensor.h"
#include "runtime/base/error.h"

namespace ingot::onnx_import {

Results convert_constant(const Node& node) {
  auto& b = node.builder();
  if (const auto* value = node.find("value")) {
    Typed result = b.constant(read_tensor(value->t()));
    if (stores_only(value->t().data_type())) result.stored = value->t().data_type();
    return {result};
  }
  if (const auto* value = node.find("sparse_value")) return {b.constant(read_sparse_tensor(value->sparse_tensor()))};
  if (const auto* value = node.find("value_int")) return {b.tensor_of({PrimExpr(value->i())}, 0)};
  if (const auto list = node.integers("value_ints")) return {b.integers(*list)};
  if (node.find("value_float") != nullptr) return {b.scalar(DType::Float32, node.number("value_float", 0))};
  onnx::TensorProto tensor;
  if (const auto list = node.numbers("value_floats")) {
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(static_cast<int64_t>(list->size()));
    for (const double value : *list) tensor.add_float_data(static_cast<float>(value));
    return {b.constant(read_tensor(tensor))};
  }
  tensor.set_data_type(onnx::TensorProto::STRING);
  if (node.find("value_string") != nullptr) {
    tensor.add_string_data(node.text("value_string", ""));
    return {b.constant(read_tensor(tensor))};
  }
  if (node.find("value_strings") != nullptr) {
    const auto list = node.texts("value_strings");
    tensor.add_dims(static_cast<int64_t>(list.size()));
    for (const auto& text : list) tensor.add_string_data(text);
    return {b.constant(read_tensor(tensor))};
  }
  fail(ErrorCode::InvalidArgument, "it has no value");
}

Results convert_constant_of_shape(const Node& node) {
  auto& b = node.builder();
  const auto* value = node.find("value");
  Typed element = value != nullptr ? b.constant(read_tensor(value->t())) : b.scalar(DType::Float32, 0);
  if (element.constant()->bytes != dtype_bytes(element.dtype()))
    fail(ErrorCode::ShapeMismatch, "value must have one element, it has shape {}",
         shape_text(element.constant()->dims()));
  element =
      b.constant(make_view(nullptr, Ref<TensorObject>::copy_of(const_cast<TensorObject*>(element.constant())), {}));
  const auto shape = known_values(node.input(0));
  if (!shape) return {b.builtin("fill", {b.list(node.input(0)), element}, of_rank(element.dtype(), node.length(0)))};
  const auto number = known_number(element);
  if (shape->size() == 1 && shape->front().as_const() && number && is_integer(element.dtype()) &&
      *shape->front().as_const() >= 0 && *shape->front().as_const() <= 64)
    return {b.tensor_of(Dims(static_cast<size_t>(*shape->front().as_const()), PrimExpr(static_cast<int64_t>(*number))),
                        1, element.dtype())};
  return {b.call("full", {element, b.shape(*shape)})};
}

}  // namespace ingot::onnx_import
