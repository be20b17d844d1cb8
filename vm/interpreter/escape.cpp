#include "vm/interpreter/escape.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/object/objects.h"
#include "runtime/tensor/tensor.h"

namespace ingot::vm {
namespace {

// Does memory of the executable or of an arena lie behind this tensor?
bool is_foreign_memory(const TensorObject& tensor) {
  for (const auto* t = &tensor; t != nullptr; t = t->base.get())
    if (t->counting == Counting::Uncounted || t->in_arena) return true;
  return false;
}

// An owned slot for what `slot` shows, not in the executable and not in an arena; tuples and closures are not looked
// into.
Slot copy_out(const Slot& slot) {
  if (slot.kind == Kind::Tensor) {
    const auto& tensor = *static_cast<const TensorObject*>(slot.object);
    if (is_foreign_memory(tensor)) return Slot::of(copy_tensor(nullptr, tensor).detach());
  } else if (is_object(slot.kind) && slot.object->counting == Counting::Uncounted) {
    if (slot.kind == Kind::Shape)
      return Slot::of(make_shape(nullptr, static_cast<const ShapeObject*>(slot.object)->dims()).detach());
    if (slot.kind == Kind::String)
      return Slot::of(make_string(nullptr, static_cast<const StringObject*>(slot.object)->text()).detach());
  }
  return Value::copy_of(slot).detach();
}

bool holds_slots(const Slot& slot) { return slot.kind == Kind::Tuple || slot.kind == Kind::Closure; }

// Replaces what the container holds by what may leave, and calls `inner` for the containers among it. Tensors are
// immutable to programs, so nobody in the session sees a difference; containers that are Shared have left before.
template <typename Inner>
void prepare_container(Machine& m, Object* object, const Inner& inner) {
  if (object->counting != Counting::Local) return;
  std::span<Slot> held;
  if (object->kind == Kind::Tuple) {
    held = static_cast<TupleObject*>(object)->fields();
  } else {
    auto& closure = *static_cast<ClosureObject*>(object);
    closure.home = m.session->shared_from_this();
    held = closure.captures();
  }
  for (Slot& slot : held) {
    if (holds_slots(slot)) {
      inner(slot.object);
    } else if (is_object(slot.kind)) {
      const Slot fit = copy_out(slot);
      release(slot);
      slot = fit;
    }
  }
}

// Without asking the system for memory; false where there are too many containers for that.
bool prepare_few_containers(Machine& m, Object* root) {
  std::array<Object*, 32> found;
  size_t count = 0;
  bool all = true;
  const auto add = [&](Object* object) {
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(found.begin(), end, object) != end) return;
    all = all && count < found.size();
    if (all) found[count++] = object;
  };
  add(root);
  for (size_t i = 0; i < count; ++i) prepare_container(m, found[i], add);
  return all;
}

void prepare_containers(Machine& m, Object* root) {
  if (prepare_few_containers(m, root)) return;
  std::vector<Object*> work{root};
  std::unordered_set<const Object*> seen{root};
  const auto add = [&](Object* object) {
    if (seen.insert(object).second) work.push_back(object);
  };
  while (!work.empty()) {
    Object* object = work.back();
    work.pop_back();
    prepare_container(m, object, add);
  }
}

// Made by a pool, disowned since, and held by this value alone.
bool is_reclaimable(const Slot& slot) {
  return slot.counted() && slot.object->counting == Counting::Shared && slot.object->pool == nullptr &&
         slot.object->size_class != ObjectPool::kNoClass &&
         std::atomic_ref(slot.object->count).load(std::memory_order_acquire) == 1;
}

template <typename T>
void adopt(Machine& m, T* object) noexcept {
  const uint16_t size_class = object->size_class;
  object->~T();
  m.pool.adopt(object, size_class);
}

// A view and what it shows, one after the other.
void reclaim_tensor(Machine& m, Slot slot) noexcept {
  while (slot.kind == Kind::Tensor && is_reclaimable(slot)) {
    auto* tensor = static_cast<TensorObject*>(slot.object);
    Ref<TensorObject> base = std::move(tensor->base);
    adopt(m, tensor);
    if (!base) return;
    slot = Slot::of(base.detach());
  }
  release(slot);
}

// What containers hold waits in a list, so that nesting asks neither for memory nor for stack.
void reclaim(Machine& m, Slot root) noexcept {
  Object* waiting = nullptr;
  const auto take = [&](const Slot& slot) {
    if (!is_reclaimable(slot)) return release(slot);
    if (holds_slots(slot)) {
      slot.object->next = std::exchange(waiting, slot.object);
    } else if (slot.kind == Kind::Shape) {
      adopt(m, static_cast<ShapeObject*>(slot.object));
    } else if (slot.kind == Kind::String) {
      adopt(m, static_cast<StringObject*>(slot.object));
    } else {
      reclaim_tensor(m, slot);
    }
  };
  take(root);
  while (waiting != nullptr) {
    Object* const object = std::exchange(waiting, waiting->next);
    if (object->kind == Kind::Tuple) {
      auto* tuple = static_cast<TupleObject*>(object);
      for (const Slot& field : tuple->fields()) take(field);
      adopt(m, tuple);
    } else {
      auto* closure = static_cast<ClosureObject*>(object);
      for (const Slot& capture : closure->captures()) take(capture);
      adopt(m, closure);
    }
  }
}

}  // namespace

void recycle(Machine& m, Value value) noexcept { reclaim(m, value.detach()); }

Value escape(Machine& m, const Slot& slot) {
  if (!is_object(slot.kind)) return Value::copy_of(slot);
  if (holds_slots(slot)) prepare_containers(m, slot.object);
  Value value = Value::adopt(copy_out(slot));
  share(value);
  return value;
}

Value escape_for_packed(void* machine, const Slot& slot) { return escape(*static_cast<Machine*>(machine), slot); }

}  // namespace ingot::vm
