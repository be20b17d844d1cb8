#pragma once
#include <cstdint>

#include "runtime/tensor/tensor.h"

// DLPack: how libraries of one process hand tensors to each other without copying (github.com/dmlc/dlpack, version 0.8;
// the structures' layout is its ABI).
namespace ingot::dlpack {

inline constexpr int32_t kDeviceCpu = 1;
enum class TypeCode : uint8_t { Int = 0, UInt = 1, Float = 2, BFloat = 4, Complex = 5, Bool = 6 };

struct Device {
  int32_t type;
  int32_t id;
};
struct DataType {
  TypeCode code;
  uint8_t bits;
  uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor* self);  // may be null
};
static_assert(sizeof(DataType) == 4 && sizeof(Tensor) == 48 && sizeof(ManagedTensor) == 64);

// A tensor over the same elements, without a copy where they are dense, row-major and aligned to the element, else a
// copy. Takes `managed` over: its deleter runs once, with the last reference from whatever thread, or at once after a
// copy. When this throws, `managed` still belongs to the caller.
//
// Nobody may write the elements while the tensor lives. Throws InvalidArgument (rank, dimensions, null), Unsupported
// (other devices, element types that no dtype stands for).
Ref<TensorObject> import_tensor(ObjectPool* pool, ManagedTensor* managed);

// The elements of `tensor` for another library, until it calls the deleter (from any thread). Shares the tensor: not to
// be called by a thread that does not own it. A tensor that does not own its elements for good (in an arena, of an
// executable) or is not row-major is copied first. Whoever receives it must not write. Unsupported for strings.
ManagedTensor* export_tensor(Ref<TensorObject> tensor);

}  // namespace ingot::dlpack
