#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"

namespace ingot {

// What a PackedFunc sees of its arguments: borrowed slots that live as long as the call. `copy(i)` gives an owned value
// that may be kept and moved to other threads: it marks the value Shared. Scalars are passed by value; tensors are
// row-major, not in an arena, and read-only unless the import declares that this argument is written.
class PackedArgs {
 public:
  // Makes a value fit to leave the session that calls; `context` is the session's.
  using Escape = Value (*)(void* context, const Slot& slot);

  PackedArgs(std::span<const Slot> slots, ObjectPool* pool, Escape escape = nullptr, void* context = nullptr)
      : slots_(slots), pool_(pool), escape_(escape), context_(context) {}

  size_t size() const { return slots_.size(); }
  const Slot& operator[](size_t i) const { return slots_[i]; }
  Value copy(size_t i) const;
  // For results that stay in the session; may be null.
  ObjectPool* pool() const { return pool_; }

 private:
  std::span<const Slot> slots_;
  ObjectPool* pool_;
  Escape escape_;
  void* context_;
};

// A type-erased callable. Errors are thrown as Error inside the process (ForeignError by convention); behind the C
// table they are statuses. Must be callable from any thread that runs a session; what it does there is its own
// business.
using PackedFunction = std::function<Value(const PackedArgs&)>;

struct PackedFuncObject final : Object {
  PackedFuncObject(Counting counting_, std::string name_, PackedFunction function_)
      : Object(Kind::PackedFunc, counting_), name(std::move(name_)), function(std::move(function_)) {}
  std::string name;
  PackedFunction function;
};

Ref<PackedFuncObject> make_packed_func(std::string name, PackedFunction function);

// PackedFuncs by name. Not thread safe while it changes; sessions copy what they need when they are made.
class Registry {
 public:
  // Replaces an earlier function of that name.
  void add(std::string name, PackedFunction function);
  // Null where there is none.
  Ref<PackedFuncObject> find(std::string_view name) const;

 private:
  struct Entry {
    std::string name;
    Ref<PackedFuncObject> function;
  };
  std::vector<Entry> entries_;  // sorted by name
};

}  // namespace ingot
