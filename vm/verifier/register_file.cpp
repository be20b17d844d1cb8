#include "vm/verifier/register_file.h"

namespace ingot::vm {

void RegisterFile::add_changes(uint32_t unit, std::vector<CountedChange>& to) {
  for (const Register reg : touched_) {
    const bool counted = counted_.contains(reg);
    if (counted == reported_.contains(reg)) continue;
    to.push_back({unit, reg, counted});
    if (counted)
      reported_.insert(reg);
    else
      reported_.erase(reg);
  }
  touched_.clear();
}

Snapshot RegisterFile::spare() {
  if (spares_.empty()) return {};
  Snapshot snapshot = std::move(spares_.back());
  spares_.pop_back();
  snapshot.entries.clear();
  return snapshot;
}

Snapshot RegisterFile::snapshot() {
  Snapshot snapshot = spare();
  snapshot.planned = planned;
  snapshot.entries.reserve(held_.size());
  for (uint32_t reg = held_.next(0); reg != RegisterSet::kEnd; reg = held_.next(reg + 1)) {
    const RegisterState& state = states_[reg];
    if (!stale(state)) snapshot.entries.push_back({static_cast<Register>(reg), state});
  }
  return snapshot;
}

void RegisterFile::restore(const Snapshot& snapshot) {
  uint32_t held = held_.next(0);
  for (const Snapshot::Entry& entry : snapshot.entries) {
    for (; held < entry.reg; held = held_.next(held + 1)) clear(static_cast<Register>(held));
    if (held == entry.reg) held = held_.next(held + 1);
    set(entry.reg, entry.state);
  }
  for (; held != RegisterSet::kEnd; held = held_.next(held + 1)) clear(static_cast<Register>(held));
  planned = snapshot.planned;
}

}  // namespace ingot::vm
