#include "runtime/tensor/dlpack.h"

#include <cstring>
#include <memory>
#include <vector>

#include "runtime/base/error.h"

namespace ingot::dlpack {
namespace {

DataType type_of(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * dtype_bytes(dtype));
  switch (dtype_info(dtype).cls) {
    case DTypeClass::Boolean:
      return {TypeCode::Bool, bits, 1};
    case DTypeClass::Signed:
      return {TypeCode::Int, bits, 1};
    case DTypeClass::Unsigned:
      return {TypeCode::UInt, bits, 1};
    case DTypeClass::Float:
      return {dtype == DType::BFloat16 ? TypeCode::BFloat : TypeCode::Float, bits, 1};
    case DTypeClass::None:
    case DTypeClass::String:
      break;
  }
  fail(ErrorCode::Unsupported, "DLPack has no elements of dtype {}", dtype_name(dtype));
}

DType dtype_of(DataType type) {
  for (size_t i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::String) continue;
    const DataType known = type_of(dtype);
    if (known.code == type.code && known.bits == type.bits && known.lanes == type.lanes) return dtype;
  }
  fail(ErrorCode::Unsupported, "DLPack elements of code {}, {} bits and {} lanes have no dtype here",
       static_cast<int>(type.code), type.bits, type.lanes);
}

void release_managed(ManagedTensor* managed) {
  if (managed->deleter != nullptr) managed->deleter(managed);
}

bool is_row_major(std::span<const int64_t> dims, const int64_t* strides) {
  if (strides == nullptr) return true;
  int64_t expected = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] == 0) return true;
    if (dims[d] != 1 && strides[d] != expected) return false;
    expected *= dims[d];
  }
  return true;
}

// Elements at any strides, also 0 and negative ones, into a row-major tensor.
void copy_strided(const std::byte* from, const int64_t* strides, TensorObject& to) {
  const auto dims = to.dims();
  const size_t element = dtype_bytes(to.dtype);
  const size_t count = to.bytes / element;
  std::vector<int64_t> index(dims.size(), 0);
  int64_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(to.data + i * element, from + at * static_cast<int64_t>(element), element);
    for (size_t d = dims.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < dims[d]) break;
      at -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
}

// What an imported tensor hangs on; filled when nothing can throw any more.
struct Import {
  Import() = default;
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;
  ~Import() {
    if (managed != nullptr) release_managed(managed);
  }
  ManagedTensor* managed = nullptr;
};

// What an exported tensor hangs on.
struct Export {
  ManagedTensor managed{};
  Ref<TensorObject> tensor;
  std::vector<int64_t> strides;
};

bool owned_for_good(const TensorObject& tensor) {
  return tensor.counting != Counting::Uncounted && !tensor.in_arena &&
         (!tensor.base || tensor.base->counting != Counting::Uncounted);
}

}  // namespace

Ref<TensorObject> import_tensor(ObjectPool* pool, ManagedTensor* managed) {
  if (managed == nullptr) fail(ErrorCode::InvalidArgument, "there is no DLPack tensor");
  const Tensor& source = managed->tensor;
  if (source.device.type != kDeviceCpu)
    fail(ErrorCode::Unsupported, "the DLPack tensor lies on a device of type {}; only the CPU's memory (1) is read",
         source.device.type);
  if (source.ndim < 0 || static_cast<uint32_t>(source.ndim) > kMaxRank)
    fail(ErrorCode::InvalidArgument, "the DLPack tensor has rank {}; 0 to {} are allowed", source.ndim, kMaxRank);
  if (source.ndim > 0 && source.shape == nullptr) fail(ErrorCode::InvalidArgument, "the DLPack tensor has no shape");
  const DType dtype = dtype_of(source.dtype);
  const std::span<const int64_t> dims(source.shape, static_cast<size_t>(source.ndim));
  const size_t bytes = byte_size(dtype, dims);
  if (bytes > 0 && source.data == nullptr) fail(ErrorCode::InvalidArgument, "the DLPack tensor has no data");

  auto* data = static_cast<std::byte*>(source.data) + (bytes > 0 ? source.byte_offset : 0);
  const bool aligned = reinterpret_cast<uintptr_t>(data) % dtype_bytes(dtype) == 0;
  if (is_row_major(dims, source.strides) && aligned) {
    auto owner = std::make_shared<Import>();
    auto tensor = wrap_tensor(pool, dtype, dims, data, owner);
    owner->managed = managed;
    return tensor;
  }
  auto tensor = make_tensor(pool, dtype, dims);
  if (is_row_major(dims, source.strides)) {
    std::memcpy(tensor->data, data, bytes);
  } else {
    copy_strided(data, source.strides, *tensor);
  }
  release_managed(managed);
  return tensor;
}

ManagedTensor* export_tensor(Ref<TensorObject> tensor) {
  const DataType type = type_of(tensor->dtype);
  if (tensor->layout != Layout::RowMajor || !owned_for_good(*tensor)) tensor = copy_tensor(nullptr, *tensor);
  share(tensor.get());
  auto holder = std::make_unique<Export>();
  const auto dims = tensor->dims();
  holder->strides.resize(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    holder->strides[d] = stride;
    stride *= dims[d] > 0 ? dims[d] : 1;
  }
  holder->managed.tensor = {
      tensor->data, {kDeviceCpu, 0}, static_cast<int32_t>(dims.size()), type, dims.data(), holder->strides.data(), 0};
  holder->managed.context = holder.get();
  holder->managed.deleter = [](ManagedTensor* self) { std::unique_ptr<Export>(static_cast<Export*>(self->context)); };
  holder->tensor = std::move(tensor);
  return &holder.release()->managed;
}

}  // namespace ingot::dlpack
