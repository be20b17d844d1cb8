#include "compiler/onnx/tensor.h"

#include <cstring>

#include "runtime/base/error.h"
#include "runtime/base/half.h"

namespace ingot::onnx_import {
namespace {

template <typename Element, typename Field>
void fill(TensorObject& into, const Field& values) {
  for (int i = 0; i < values.size(); ++i) into.elements<Element>()[i] = static_cast<Element>(values[i]);
}

// 16-bit floats travel as the bits of int32_data.
void fill_bits(TensorObject& into, const google::protobuf::RepeatedField<int32_t>& values) {
  fill<uint16_t>(into, values);
}

}  // namespace

DType dtype_of(int32_t onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::FLOAT:
      return DType::Float32;
    case onnx::TensorProto::DOUBLE:
      return DType::Float64;
    case onnx::TensorProto::FLOAT16:
      return DType::Float16;
    case onnx::TensorProto::BFLOAT16:
      return DType::BFloat16;
    case onnx::TensorProto::INT8:
      return DType::Int8;
    case onnx::TensorProto::INT16:
      return DType::Int16;
    case onnx::TensorProto::INT32:
      return DType::Int32;
    case onnx::TensorProto::INT64:
      return DType::Int64;
    case onnx::TensorProto::UINT8:
      return DType::UInt8;
    case onnx::TensorProto::UINT16:
      return DType::UInt16;
    case onnx::TensorProto::UINT32:
      return DType::UInt32;
    case onnx::TensorProto::UINT64:
      return DType::UInt64;
    case onnx::TensorProto::BOOL:
      return DType::Bool;
    default:
      break;
  }
  const std::string& name = onnx::TensorProto::DataType_IsValid(onnx_type)
                                ? onnx::TensorProto::DataType_Name(onnx::TensorProto::DataType(onnx_type))
                                : "";
  fail(ErrorCode::Unsupported, "element type {} {} is not supported", onnx_type, name);
}

Ref<TensorObject> read_tensor(const onnx::TensorProto& tensor) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
    fail(ErrorCode::Unsupported, "tensor '{}' has its data in another file", tensor.name());
  const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  if (dims.size() > kMaxRank)
    fail(ErrorCode::CorruptFile, "tensor '{}' has rank {}, at most {} is possible", tensor.name(), dims.size(),
         kMaxRank);
  const DType dtype = dtype_of(tensor.data_type());
  const size_t count = element_count(dims);
  const auto expect = [&](size_t given, size_t expected, std::string_view unit) {
    if (given != expected)
      fail(ErrorCode::CorruptFile, "tensor '{}' of shape {} needs {} {}, the file has {}", tensor.name(),
           shape_text(dims), expected, unit, given);
  };
  // Checked before memory is asked for: the shape alone is not to be trusted.
  if (tensor.has_raw_data()) {
    expect(tensor.raw_data().size(), byte_size(dtype, dims), "bytes");
  } else {
    const int typed = dtype == DType::Float32                            ? tensor.float_data_size()
                      : dtype == DType::Float64                          ? tensor.double_data_size()
                      : dtype == DType::Int64                            ? tensor.int64_data_size()
                      : dtype == DType::UInt32 || dtype == DType::UInt64 ? tensor.uint64_data_size()
                                                                         : tensor.int32_data_size();
    expect(static_cast<size_t>(typed), count, "elements");
  }
  auto result = make_tensor(nullptr, dtype, dims);
  if (tensor.has_raw_data()) {
    std::memcpy(result->data, tensor.raw_data().data(), result->bytes);
    return result;
  }
  switch (dtype) {
    case DType::Float32:
      fill<float>(*result, tensor.float_data());
      break;
    case DType::Float64:
      fill<double>(*result, tensor.double_data());
      break;
    case DType::Int64:
      fill<int64_t>(*result, tensor.int64_data());
      break;
    case DType::UInt64:
      fill<uint64_t>(*result, tensor.uint64_data());
      break;
    case DType::UInt32:
      fill<uint32_t>(*result, tensor.uint64_data());
      break;
    case DType::Int32:
      fill<int32_t>(*result, tensor.int32_data());
      break;
    case DType::Int16:
      fill<int16_t>(*result, tensor.int32_data());
      break;
    case DType::Int8:
      fill<int8_t>(*result, tensor.int32_data());
      break;
    case DType::UInt16:
      fill<uint16_t>(*result, tensor.int32_data());
      break;
    case DType::UInt8:
      fill<uint8_t>(*result, tensor.int32_data());
      break;
    case DType::Float16:
    case DType::BFloat16:
      fill_bits(*result, tensor.int32_data());
      break;
    case DType::Bool:
      for (int i = 0; i < tensor.int32_data_size(); ++i)
        result->elements<uint8_t>()[i] = tensor.int32_data(i) != 0 ? 1 : 0;
      break;
    case DType::None:
    case DType::String:
      break;
  }
  return result;
}

}  // namespace ingot::onnx_import
