#include "vm/verifier/register_file.h"

namespace ingot::vm {

RegisterState RegisterState::normalized() const {
  RegisterState state = *this;
  if (value.is_immediate()) {
    state.flags = 0;
    state.root = kNoRegister;
    state.range = kNoSite;
  } else if (!value.may_be(Kind::Tensor)) {
    state.flags &= static_cast<uint8_t>(~kArena);
  }
  return state;
}

RegisterState immediate_state(Kind kind, DType dtype) {
  RegisterState state;
  state.value = ValueClass::of(kind, dtype);
  return state;
}

RegisterState counted_state(ValueClass value) {
  RegisterState state;
  state.value = value;
  state.flags = RegisterState::kCounted;
  return state.normalized();
}

void RegisterFile::set(Register reg, const RegisterState& state) {
  if (state.has(RegisterState::kCounted) != counted_.contains(reg)) touched_.push_back(reg);
  states_[reg] = state;
  held_.insert(reg);
  if (state.has(RegisterState::kCounted))
    counted_.insert(reg);
  else
    counted_.erase(reg);
}

void RegisterFile::clear(Register reg) {
  if (counted_.contains(reg)) touched_.push_back(reg);
  states_[reg] = {};
  held_.erase(reg);
  counted_.erase(reg);
}

void RegisterFile::report_changes(uint32_t unit, std::vector<CountedChange>& to) {
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

Snapshot RegisterFile::snapshot() const {
  Snapshot snapshot;
  snapshot.planned = planned;
  snapshot.entries.reserve(held_.size());
  for (uint32_t reg = held_.next(0); reg != RegisterSet::kEnd; reg = held_.next(reg + 1)) {
    const RegisterState& state = states_[reg];
    if (!stale(state)) snapshot.entries.push_back({static_cast<Register>(reg), state});
  }
  return snapshot;
}

void RegisterFile::restore(const Snapshot& snapshot) {
  for (uint32_t reg = held_.next(0); reg != RegisterSet::kEnd; reg = held_.next(reg + 1))
    clear(static_cast<Register>(reg));
  for (const Snapshot::Entry& entry : snapshot.entries) set(entry.reg, entry.state);
  planned = snapshot.planned;
}

}  // namespace ingot::vm
