#include "runtime/object/objects.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/base/error.h"

namespace ingot {
namespace {

uint32_t checked_size(size_t size, const char* what) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  if (size > kMost) fail(ErrorCode::InvalidArgument, "{} of size {}, but {} is the most", what, size, kMost);
  return static_cast<uint32_t>(size);
}

void take_values(ObjectPool* pool, std::span<Value> from, std::span<Slot> to) {
  for (size_t i = 0; i < from.size(); ++i) {
    const bool borrowed = is_object(from[i].kind()) && !from[i].slot().counted();
    Value value = borrowed ? Value::copy_of(from[i].slot()) : std::move(from[i]);
    if (borrowed) from[i] = Value();
    if (pool == nullptr) share(value);
    to[i] = value.detach();
  }
}

}  // namespace

Ref<TupleObject> make_tuple(ObjectPool* pool, std::span<Value> fields) {
  auto tuple = make_object<TupleObject>(pool, fields.size_bytes(), checked_size(fields.size(), "a tuple"));
  take_values(pool, fields, tuple->fields());
  return tuple;
}

Ref<ShapeObject> make_shape(ObjectPool* pool, std::span<const int64_t> dims) {
  auto shape = make_object<ShapeObject>(pool, dims.size_bytes(), checked_size(dims.size(), "a shape"));
  std::copy(dims.begin(), dims.end(), shape->dims().begin());
  return shape;
}

Ref<StringObject> make_string(ObjectPool* pool, std::string_view text) {
  auto string = make_object<StringObject>(pool, text.size(), checked_size(text.size(), "a string"));
  std::copy(text.begin(), text.end(), string->data());
  return string;
}

Ref<ClosureObject> make_closure(ObjectPool* pool, uint32_t function, std::span<Value> captures) {
  auto closure =
      make_object<ClosureObject>(pool, captures.size_bytes(), function, checked_size(captures.size(), "a closure"));
  take_values(pool, captures, closure->captures());
  return closure;
}

Ref<OpaqueObject> make_opaque(ObjectPool* pool, std::shared_ptr<void> payload) {
  return make_object<OpaqueObject>(pool, 0, std::move(payload));
}

}  // namespace ingot
