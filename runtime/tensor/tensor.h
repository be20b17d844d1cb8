#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/base/dtype.h"
#include "runtime/object/pool.h"
#include "runtime/object/value.h"

namespace ingot {

// Where the elements of a tensor lie. Programs, PackedFuncs and hosts see RowMajor only; the others occur in arenas,
// between kernels.
enum class Layout : uint8_t { RowMajor, ChannelsLast };

// A dense tensor of rank >= 0. `data` is aligned to 64 bytes for tensors that Ingot allocates, to the element for
// others.
//
// Who owns the elements: the block of the object itself (they stand behind the dimensions), `base` (a view of another
// tensor), `external` (memory of the host, of a file mapping), or, for Uncounted tensors, the arena or executable.
struct TensorObject final : Object {
  TensorObject(Counting counting_, DType dtype_, uint32_t rank_)
      : Object(Kind::Tensor, counting_), dtype(dtype_), rank(rank_) {}
  ~TensorObject();
  static void share_held(Object* object) noexcept;

  DType dtype;
  Layout layout = Layout::RowMajor;
  // Lies in an arena segment: dies with the frame, must not escape.
  bool in_arena = false;
  // The host or a constant section owns it: nobody may write, whatever an import declares.
  bool read_only = false;
  uint32_t rank;
  std::byte* data = nullptr;
  // dtype_bytes * number of elements.
  size_t bytes = 0;
  Ref<TensorObject> base;
  std::shared_ptr<void> external;

  std::span<int64_t> dims() { return {reinterpret_cast<int64_t*>(this + 1), rank}; }
  std::span<const int64_t> dims() const { return {reinterpret_cast<const int64_t*>(this + 1), rank}; }
  template <typename T>
  T* elements() {
    return reinterpret_cast<T*>(data);
  }
  template <typename T>
  const T* elements() const {
    return reinterpret_cast<const T*>(data);
  }
};

inline constexpr size_t kTensorAlignment = 64;
// More dimensions than any operator needs; checked wherever tensors come in.
inline constexpr uint32_t kMaxRank = 64;

// Number of elements, dtype_bytes times it; both fit int64. Throws ShapeMismatch, naming the shape, on a negative
// dimension, a rank above kMaxRank, or an overflow (also of the other dimensions where one is 0, so that products of
// dimensions never overflow).
size_t element_count(std::span<const int64_t> dims);
size_t byte_size(DType dtype, std::span<const int64_t> dims);
std::string shape_text(std::span<const int64_t> dims);  // "(2, 3)", "(2,)", "()"

// A tensor that owns its elements, RowMajor, aligned to kTensorAlignment, not initialised (String elements are null).
// Throws as above and as the pool does.
Ref<TensorObject> make_tensor(ObjectPool* pool, DType dtype, std::span<const int64_t> dims);
// A tensor over memory of somebody else; `external` is released with it. InvalidArgument for strings.
Ref<TensorObject> wrap_tensor(ObjectPool* pool, DType dtype, std::span<const int64_t> dims, std::byte* data,
                              std::shared_ptr<void> external);
// The same elements under other dimensions of the same count (else ShapeMismatch); keeps `of`, or what `of` is a view
// of, alive. `of` is RowMajor and not in an arena.
Ref<TensorObject> make_view(ObjectPool* pool, Ref<TensorObject> of, std::span<const int64_t> dims);
// An owned RowMajor copy, whatever the layout of `of`. Strings are counted, not copied, except Uncounted ones for a
// null pool.
Ref<TensorObject> copy_tensor(ObjectPool* pool, const TensorObject& of);

// A tensor Value of any rank: rank 0 becomes a Scalar (unless dtype is String), others stay tensors.
Value to_value(Ref<TensorObject> tensor);
// The reverse: a Scalar becomes a rank-0 tensor of the pool. Any other kind: TypeError.
Ref<TensorObject> to_tensor(ObjectPool* pool, const Value& value);

}  // namespace ingot
