#include "runtime/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/object/objects.h"
#include "runtime/tensor/tensor_size.h"

namespace ingot {
namespace {

constexpr auto kMostBytes = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());

size_t dims_bytes(std::span<const int64_t> dims) { return dims.size_bytes(); }

std::span<StringObject*> strings(TensorObject& tensor) {
  return {tensor.elements<StringObject*>(), tensor.bytes / sizeof(StringObject*)};
}
std::span<StringObject* const> strings(const TensorObject& tensor) {
  return {tensor.elements<StringObject*>(), tensor.bytes / sizeof(StringObject*)};
}

bool owns_strings(const TensorObject& tensor) { return tensor.dtype == DType::String && !tensor.base; }

// The object without elements; `trailing` bytes follow the dimensions.
Ref<TensorObject> make_head(ObjectPool* pool, DType dtype, std::span<const int64_t> dims, size_t bytes,
                            size_t trailing) {
  auto tensor = make_object<TensorObject>(pool, dims_bytes(dims) + trailing, dtype, static_cast<uint32_t>(dims.size()));
  std::copy(dims.begin(), dims.end(), tensor->dims().begin());
  tensor->bytes = bytes;
  return tensor;
}

size_t head_padding(size_t head) { return (0 - head) % kTensorAlignment; }

template <typename T>
void copy_row_major(const TensorObject& of, TensorObject& to) {
  const auto dims = of.dims();
  const auto channels = static_cast<size_t>(dims[1]);
  const auto batch = static_cast<size_t>(dims[0]);
  const size_t pixels = element_count(dims.subspan(2));
  const T* in = of.elements<T>();
  T* out = to.elements<T>();
  for (size_t n = 0; n < batch; ++n)
    for (size_t c = 0; c < channels; ++c)
      for (size_t p = 0; p < pixels; ++p) *out++ = in[(n * pixels + p) * channels + c];
}

// A copy of an element of a string tensor that may live in a tensor of `pool`.
StringObject* copy_string(ObjectPool* pool, StringObject* string) {
  if (string == nullptr) return nullptr;
  if (pool == nullptr && string->counting == Counting::Uncounted) return make_string(nullptr, string->text()).detach();
  if (pool == nullptr) share(string);
  retain(string);
  return string;
}

}  // namespace

TensorObject::~TensorObject() {
  if (!owns_strings(*this)) return;
  for (StringObject* string : strings(*this))
    if (string != nullptr) release(string);
}

void TensorObject::share_held(Object* object) noexcept {
  auto& tensor = *static_cast<TensorObject*>(object);
  if (tensor.base) share(tensor.base.get());
  if (!owns_strings(tensor)) return;
  for (StringObject* string : strings(tensor))
    if (string != nullptr) share(string);
}

size_t element_count(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank)
    fail(ErrorCode::ShapeMismatch, "a tensor of rank {}, but {} is the most", dims.size(), kMaxRank);
  int64_t count = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) fail(ErrorCode::ShapeMismatch, "shape {} has the negative dimension {}", shape_text(dims), dim);
    empty |= dim == 0;
    const auto product = checked_mul(count, dim == 0 ? 1 : dim);
    if (!product) fail(ErrorCode::ShapeMismatch, "shape {} has more than 2^63 - 1 elements", shape_text(dims));
    count = *product;
  }
  return empty ? 0 : static_cast<size_t>(count);
}

size_t byte_size(DType dtype, std::span<const int64_t> dims) {
  const auto bytes = checked_mul(element_count(dims), dtype_bytes(dtype));
  if (!bytes || *bytes > kMostBytes)
    fail(ErrorCode::ShapeMismatch, "a tensor of shape {} and dtype {} has more than 2^63 - 1 bytes", shape_text(dims),
         dtype_name(dtype));
  return *bytes;
}

std::string shape_text(std::span<const int64_t> dims) {
  if (dims.size() == 1) return fmt::format("({},)", dims[0]);
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + ")";
}

Ref<TensorObject> make_tensor(ObjectPool* pool, DType dtype, std::span<const int64_t> dims) {
  const size_t bytes = byte_size(dtype, dims);
  const size_t head = sizeof(TensorObject) + dims_bytes(dims);
  const size_t padding = head_padding(head);
  auto tensor = make_head(pool, dtype, dims, dtype == DType::String ? 0 : bytes, padding + bytes);
  tensor->data = reinterpret_cast<std::byte*>(tensor.get()) + head + padding;
  if (dtype == DType::String) {
    std::memset(tensor->data, 0, bytes);
    tensor->bytes = bytes;
  }
  return tensor;
}

size_t make_tensor_bytes(DType dtype, std::span<const int64_t> dims) {
  const size_t head = sizeof(TensorObject) + dims_bytes(dims);
  return head + head_padding(head) + byte_size(dtype, dims);
}

Ref<TensorObject> wrap_tensor(ObjectPool* pool, DType dtype, std::span<const int64_t> dims, std::byte* data,
                              std::shared_ptr<void> external) {
  if (dtype == DType::String) fail(ErrorCode::InvalidArgument, "strings cannot be wrapped: their tensors own them");
  auto tensor = make_head(pool, dtype, dims, byte_size(dtype, dims), 0);
  tensor->data = data;
  tensor->external = std::move(external);
  return tensor;
}

Ref<TensorObject> make_view(ObjectPool* pool, Ref<TensorObject> of, std::span<const int64_t> dims) {
  const size_t bytes = byte_size(of->dtype, dims);
  if (bytes != of->bytes)
    fail(ErrorCode::ShapeMismatch, "a tensor of shape {} has {} elements and cannot be viewed as {}, which has {}",
         shape_text(of->dims()), element_count(of->dims()), shape_text(dims), element_count(dims));
  auto tensor = make_head(pool, of->dtype, dims, bytes, 0);
  tensor->data = of->data;
  tensor->read_only = of->read_only;
  tensor->base = of->base ? of->base : std::move(of);
  if (pool == nullptr) share(tensor->base.get());
  return tensor;
}

Ref<TensorObject> copy_tensor(ObjectPool* pool, const TensorObject& of) {
  auto copy = make_tensor(pool, of.dtype, of.dims());
  if (of.bytes == 0) return copy;
  if (of.dtype == DType::String) {
    const auto from = strings(of);
    const auto to = strings(*copy);
    for (size_t i = 0; i < from.size(); ++i) to[i] = copy_string(pool, from[i]);
  } else if (of.layout == Layout::RowMajor || of.rank < 3) {
    std::memcpy(copy->data, of.data, of.bytes);
  } else {
    switch (dtype_bytes(of.dtype)) {
      case 1:
        copy_row_major<uint8_t>(of, *copy);
        break;
      case 2:
        copy_row_major<uint16_t>(of, *copy);
        break;
      case 4:
        copy_row_major<uint32_t>(of, *copy);
        break;
      default:
        copy_row_major<uint64_t>(of, *copy);
        break;
    }
  }
  return copy;
}

Value to_value(Ref<TensorObject> tensor) {
  if (tensor->rank > 0 || tensor->dtype == DType::String) return Value(std::move(tensor));
  uint64_t bits = 0;
  std::memcpy(&bits, tensor->data, tensor->bytes);
  if (tensor->dtype == DType::Bool) bits = bits != 0 ? 1 : 0;
  return Value::scalar(tensor->dtype, bits);
}

Ref<TensorObject> to_tensor(ObjectPool* pool, const Value& value) {
  const Slot& slot = value.slot();
  if (slot.kind == Kind::Tensor) return Ref<TensorObject>::copy_of(value.get<TensorObject>());
  if (slot.kind != Kind::Scalar) fail(ErrorCode::TypeError, "a tensor is wanted, not a {}", kind_name(slot.kind));
  auto tensor = make_tensor(pool, slot.dtype, {});
  std::memcpy(tensor->data, slot.payload(), tensor->bytes);
  return tensor;
}

}  // namespace ingot
