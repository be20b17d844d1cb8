#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/object/pool.h"
#include "runtime/object/value.h"

namespace ingot {

// The fields stand behind the object. `()` is a tuple without fields; a sequence is a tuple as well.
struct TupleObject final : Object {
  explicit TupleObject(Counting counting_, uint32_t size_) : Object(Kind::Tuple, counting_), size(size_) {}
  uint32_t size;

  std::span<Slot> fields() { return {reinterpret_cast<Slot*>(this + 1), size}; }
  std::span<const Slot> fields() const { return {reinterpret_cast<const Slot*>(this + 1), size}; }
};
static_assert(sizeof(TupleObject) % alignof(Slot) == 0);

struct ShapeObject final : Object {
  explicit ShapeObject(Counting counting_, uint32_t rank_) : Object(Kind::Shape, counting_), rank(rank_) {}
  uint32_t rank;

  std::span<int64_t> dims() { return {reinterpret_cast<int64_t*>(this + 1), rank}; }
  std::span<const int64_t> dims() const { return {reinterpret_cast<const int64_t*>(this + 1), rank}; }
};

// UTF-8, not terminated.
struct StringObject final : Object {
  explicit StringObject(Counting counting_, uint32_t size_) : Object(Kind::String, counting_), size(size_) {}
  uint32_t size;

  char* data() { return reinterpret_cast<char*>(this + 1); }
  std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), size}; }
};

// A function of an executable and the captured values, which the callee finds behind its parameters. A closure inside a
// session names the session's own executable; `home` is set when it is given to the host, and keeps executable and
// session alive.
struct ClosureObject final : Object {
  ClosureObject(Counting counting_, uint32_t function_, uint32_t size_)
      : Object(Kind::Closure, counting_), function(function_), size(size_) {}
  uint32_t function;
  uint32_t size;
  std::shared_ptr<void> home;

  std::span<Slot> captures() { return {reinterpret_cast<Slot*>(this + 1), size}; }
  std::span<const Slot> captures() const { return {reinterpret_cast<const Slot*>(this + 1), size}; }
};
static_assert(sizeof(ClosureObject) % alignof(Slot) == 0);

// Anything that the host passes through the language without the language looking inside.
struct OpaqueObject final : Object {
  OpaqueObject(Counting counting_, std::shared_ptr<void> payload_)
      : Object(Kind::Object, counting_), payload(std::move(payload_)) {}
  std::shared_ptr<void> payload;
};

// Each takes its contents over or copies them. A null pool makes a Shared object, and shares the values that it takes.
// Borrowed values are counted from then on. Throws as the pool does; then nothing was taken. InvalidArgument above 2^32
// - 1 fields, dimensions or bytes.
Ref<TupleObject> make_tuple(ObjectPool* pool, std::span<Value> fields);
Ref<ShapeObject> make_shape(ObjectPool* pool, std::span<const int64_t> dims);
Ref<StringObject> make_string(ObjectPool* pool, std::string_view text);
Ref<ClosureObject> make_closure(ObjectPool* pool, uint32_t function, std::span<Value> captures);
Ref<OpaqueObject> make_opaque(ObjectPool* pool, std::shared_ptr<void> payload);

}  // namespace ingot
