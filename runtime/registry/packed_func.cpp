#include "runtime/registry/packed_func.h"

#include <algorithm>

namespace ingot {

Value PackedArgs::copy(size_t i) const {
  if (escape_ != nullptr) return escape_(context_, slots_[i]);
  Value value = Value::copy_of(slots_[i]);
  share(value);
  return value;
}

Ref<PackedFuncObject> make_packed_func(std::string name, PackedFunction function) {
  return make_object<PackedFuncObject>(nullptr, 0, std::move(name), std::move(function));
}

void Registry::add(std::string name, PackedFunction function) {
  auto object = make_packed_func(name, std::move(function));
  const auto entry = std::lower_bound(entries_.begin(), entries_.end(), name,
                                      [](const Entry& e, const auto& n) { return e.name < n; });
  if (entry != entries_.end() && entry->name == name) {
    entry->function = std::move(object);
  } else {
    entries_.insert(entry, Entry{std::move(name), std::move(object)});
  }
}

Ref<PackedFuncObject> Registry::find(std::string_view name) const {
  const auto entry =
      std::lower_bound(entries_.begin(), entries_.end(), name, [](const Entry& e, auto n) { return e.name < n; });
  return entry != entries_.end() && entry->name == name ? entry->function : Ref<PackedFuncObject>();
}

}  // namespace ingot
