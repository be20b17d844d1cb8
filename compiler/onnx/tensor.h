#pragma once
#include <memory>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

#include "runtime/tensor/tensor.h"

namespace ingot::onnx_import {

// The dtype of an ONNX element type; Unsupported, naming it, for those that the language does not have.
// Types that only store numbers become what they are computed in: int4 and int2 int8, uint4 and uint2 uint8, float8 and
// float4 float32.
DType dtype_of(int32_t onnx_type);

// The reverse, for dtypes that programs have.
int32_t onnx_type_of(DType dtype);
// Does the type only store numbers?
bool stores_only(int32_t onnx_type);
bool is_float4(int32_t onnx_type);
struct StoredRange {
  double low, high;
};
// What integers of a type that only stores numbers can be; nullopt for others.
std::optional<StoredRange> stored_range(int32_t onnx_type);

// The elements of a tensor of the model, from raw or typed fields. Throws CorruptFile where the number of elements does
// not fit the dimensions, naming the tensor and both numbers. Data outside of the model's file is mapped,
// from files inside of `folder` only: NotAllowed for links, `..` and absolute paths, and without a folder.
Ref<TensorObject> read_tensor(const onnx::TensorProto& tensor, const std::string& folder = {});
// All elements of a tensor of which the model names those that are not 0.
Ref<TensorObject> read_sparse_tensor(const onnx::SparseTensorProto& tensor, const std::string& folder = {});

}  // namespace ingot::onnx_import
