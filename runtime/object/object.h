#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace ingot {

class ObjectPool;
struct Object;

// What destroy() and share() must know about a class beyond its kind; one constant per class, set by `make_object`.
struct ObjectClass {
  // Runs the destructor, which releases what the object holds.
  void (*finish)(Object* object) noexcept;
  // Shares the objects that it holds. Null: it holds none. Not used for tuples and closures, the only objects that nest
  // to any depth: share() and destroy() walk those themselves.
  void (*share_held)(Object* object) noexcept;
};

// What a Value is. The numbers are part of the file format: append only. From `Tensor` on, the payload is an Object.
enum class Kind : uint8_t { None, Scalar, Prim, DType, Tensor, Tuple, Shape, Closure, PackedFunc, String, Object };

constexpr bool is_object(Kind kind) { return kind >= Kind::Tensor; }

// How the references of an object are counted.
//   Local     plain: only the thread that runs the session touches it
//   Shared    atomically: it has left its session (see share())
//   Uncounted never: its owner (an executable, an arena segment) outlives every reference
enum class Counting : uint8_t { Local, Shared, Uncounted };

// The head of everything that lives on the heap. Objects are made by `make_object` and destroyed by the last release;
// an Uncounted one by its owner, with destroy(). Subclasses are immutable after construction except through their
// maker, have no virtual functions (`kind` says what they are) and constructors that do not throw.
struct Object {
  Object(Kind kind_, Counting counting_) : counting(counting_), kind(kind_) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // The pool that the memory goes back to; null where it came from the system.
  ObjectPool* pool = nullptr;
  union {
    const ObjectClass* type = nullptr;
    Object* next;  // while destroy() or share() has a tuple or closure in its list
  };
  uint32_t count = 1;
  Counting counting;
  Kind kind;
  uint16_t size_class = 0;
};

// Destroys `object`, releases what it holds and returns its memory. Nesting depth is not limited by the C++ stack, and
// no memory is allocated.
void destroy(Object* object) noexcept;

// Marks everything reachable from `object` as Shared, so that other threads may hold it. Must be called by the thread
// that owns it, before any other thread sees it. Its memory leaves the session's pool (ObjectPool::disown). Objects
// that are Uncounted stay so, and what they hold is not looked at. Nesting depth is not limited by the C++ stack, and
// no memory is allocated.
void share(Object* object) noexcept;

inline void retain(Object* object) noexcept {
  switch (object->counting) {
    case Counting::Local:
      ++object->count;
      break;
    case Counting::Shared:
      std::atomic_ref(object->count).fetch_add(1, std::memory_order_relaxed);
      break;
    case Counting::Uncounted:
      break;
  }
}

inline void release(Object* object) noexcept {
  switch (object->counting) {
    case Counting::Local:
      if (--object->count == 0) destroy(object);
      break;
    case Counting::Shared:
      if (std::atomic_ref(object->count).fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(object);
      break;
    case Counting::Uncounted:
      break;
  }
}

// An owning pointer to an object of one class; never copied silently across threads unless the object is Shared or
// Uncounted.
template <typename T>
class Ref {
 public:
  Ref() = default;
  // Takes over one count.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Adds one count.
  static Ref copy_of(T* object) {
    if (object != nullptr) retain(object);
    return adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) retain(object_);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) release(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives the count to the caller.
  T* detach() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace ingot
