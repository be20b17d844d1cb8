#pragma once
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "runtime/base/dtype.h"
#include "runtime/object/object.h"

namespace ingot {

// What a register holds: 16 bytes without ownership. Copying the bytes changes no count: whoever moves Slots about
// keeps the counts right (the interpreter); everybody else uses Value.
//
//   kind        payload
//   None        nothing
//   Scalar      an immutable rank-0 tensor of numeric `dtype`, in the low bytes; the bytes above are zero
//   Prim        an int64, float64 or bool outside of tensor arithmetic; dtype says which. Dimensions are Prim int64
//   DType       the DType in the lowest byte
//   the others  an Object*, counted unless kBorrowed is set
struct Slot {
  Kind kind = Kind::None;
  DType dtype = DType::None;
  uint16_t flags = 0;
  uint32_t unused = 0;
  union {
    uint64_t bits = 0;
    Object* object;
  };

  // An alias that is not counted: something that outlives it keeps the object alive. Releasing it does nothing.
  static constexpr uint16_t kBorrowed = 1;

  bool counted() const { return is_object(kind) && (flags & kBorrowed) == 0; }
  // The address of a Scalar's or Prim's element, for kernels.
  const void* payload() const { return &bits; }
  void* payload() { return &bits; }

  template <typename T>
  T as() const {
    static_assert(sizeof(T) <= sizeof bits && std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  template <typename T>
  static Slot immediate(Kind kind, DType dtype, T value) {
    static_assert(sizeof(T) <= sizeof bits && std::is_trivially_copyable_v<T>);
    Slot slot;
    slot.kind = kind;
    slot.dtype = dtype;
    std::memcpy(&slot.bits, &value, sizeof value);
    return slot;
  }
  static Slot of(Object* object, uint16_t flags = 0) {
    Slot slot;
    slot.kind = object->kind;
    slot.flags = flags;
    slot.object = object;
    return slot;
  }
};
static_assert(sizeof(Slot) == 16 && std::is_trivially_copyable_v<Slot>);

inline void retain(const Slot& slot) noexcept {
  if (slot.counted()) retain(slot.object);
}
inline void release(const Slot& slot) noexcept {
  if (slot.counted()) release(slot.object);
}

// One value of the language, owned. Copying counts, moving does not.
//
// A Value that belongs to a running session is for that session's thread; one that was given to the host is Shared or
// Uncounted throughout and may be copied and destroyed by any thread.
class Value {
 public:
  Value() = default;
  Value(const Value& other) : slot_(other.slot_) { retain(slot_); }
  Value(Value&& other) noexcept : slot_(std::exchange(other.slot_, Slot{})) {}
  Value& operator=(Value other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Value() { release(slot_); }

  template <typename T>
  explicit Value(Ref<T> ref) {
    static_assert(std::is_base_of_v<Object, T>);
    if (ref) slot_ = Slot::of(ref.detach());
  }
  template <typename T>
  static Value scalar(DType dtype, T value) {
    return adopt(Slot::immediate(Kind::Scalar, dtype, value));
  }
  static Value prim(int64_t value) { return adopt(Slot::immediate(Kind::Prim, DType::Int64, value)); }
  static Value prim(double value) { return adopt(Slot::immediate(Kind::Prim, DType::Float64, value)); }
  static Value prim(bool value) { return adopt(Slot::immediate(Kind::Prim, DType::Bool, value)); }
  static Value dtype(DType value) {
    return adopt(Slot::immediate(Kind::DType, DType::None, static_cast<uint8_t>(value)));
  }

  // Takes over the slot's count (none where it is borrowed: then the caller vouches for its life).
  static Value adopt(Slot slot) {
    Value value;
    value.slot_ = slot;
    return value;
  }
  // An owned copy of what the slot shows; a borrowed object is counted from now on.
  static Value copy_of(const Slot& slot) {
    Slot copy = slot;
    copy.flags &= static_cast<uint16_t>(~Slot::kBorrowed);
    retain(copy);
    return adopt(copy);
  }
  // Gives the count to the caller.
  Slot detach() { return std::exchange(slot_, Slot{}); }

  const Slot& slot() const { return slot_; }
  Kind kind() const { return slot_.kind; }
  bool is_none() const { return slot_.kind == Kind::None; }
  // The payload as an object of class T; the caller knows the kind.
  template <typename T>
  T* get() const {
    return static_cast<T*>(slot_.object);
  }

 private:
  Slot slot_;
};
static_assert(sizeof(Value) == 16);

// "tensor", "tuple", ...: the word for messages. A scalar is a "scalar tensor".
std::string_view kind_name(Kind kind);

inline void share(const Value& value) noexcept {
  if (is_object(value.kind())) share(value.slot().object);
}

}  // namespace ingot
