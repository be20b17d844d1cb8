#include "runtime/object/object.h"

#include <span>

#include "runtime/object/objects.h"
#include "runtime/object/pool.h"

namespace ingot {
namespace {

// Tuples and closures nest to any depth. While one of them waits in a list, `next` stands where `type` was; `kind`
// tells which type that is.
bool nests(const Object* object) { return object->kind == Kind::Tuple || object->kind == Kind::Closure; }

const ObjectClass* nesting_class(Kind kind) {
  return kind == Kind::Tuple ? &kObjectClass<TupleObject> : &kObjectClass<ClosureObject>;
}

std::span<Slot> held_slots(Object* object) {
  if (object->kind == Kind::Tuple) return static_cast<TupleObject*>(object)->fields();
  return static_cast<ClosureObject*>(object)->captures();
}

void push(Object*& list, Object* object) {
  object->next = list;
  list = object;
}

Object* pop(Object*& list) {
  Object* object = list;
  list = object->next;
  object->type = nesting_class(object->kind);
  return object;
}

void finish(Object* object) {
  ObjectPool* pool = object->pool;
  const uint16_t size_class = object->size_class;
  object->type->finish(object);
  if (pool != nullptr) {
    pool->deallocate(object, size_class);
  } else {
    deallocate_system(object);
  }
}

bool drop_count(Object* object) {
  switch (object->counting) {
    case Counting::Local:
      return --object->count == 0;
    case Counting::Shared:
      return std::atomic_ref(object->count).fetch_sub(1, std::memory_order_acq_rel) == 1;
    case Counting::Uncounted:
      break;
  }
  return false;
}

void share_one(Object* object) {
  object->counting = Counting::Shared;
  if (object->pool == nullptr) return;
  object->pool->disown(object, object->size_class);
  object->pool = nullptr;
}

}  // namespace

void destroy(Object* object) noexcept {
  if (!nests(object)) return finish(object);
  Object* dead = nullptr;
  push(dead, object);
  while (dead != nullptr) {
    Object* parent = pop(dead);
    for (const Slot& slot : held_slots(parent)) {
      if (!slot.counted() || !drop_count(slot.object)) continue;
      if (nests(slot.object)) {
        push(dead, slot.object);
      } else {
        finish(slot.object);
      }
    }
    finish(parent);
  }
}

void share(Object* object) noexcept {
  Object* pending = nullptr;
  const auto visit = [&pending](Object* found) {
    if (found->counting != Counting::Local) return;
    share_one(found);
    if (nests(found)) {
      push(pending, found);
    } else if (found->type->share_held != nullptr) {
      found->type->share_held(found);
    }
  };
  visit(object);
  while (pending != nullptr) {
    for (const Slot& slot : held_slots(pop(pending)))
      if (slot.counted()) visit(slot.object);
  }
}

}  // namespace ingot
