#pragma once
#include <memory>

#include <onnx/onnx_pb.h>

#include "runtime/tensor/tensor.h"

namespace ingot::onnx_import {

// The dtype of an ONNX element type; Unsupported, naming it, for those that the language does not have.
DType dtype_of(int32_t onnx_type);

// The elements of a tensor of the model, from raw or typed fields. Throws CorruptFile where the number of elements does
// not fit the dimensions, naming the tensor and both numbers; Unsupported for data outside of the file.
Ref<TensorObject> read_tensor(const onnx::TensorProto& tensor);

}  // namespace ingot::onnx_import
