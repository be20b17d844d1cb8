#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "vm/verifier/facts.h"
#include "vm/verifier/register_set.h"

// What the verifier knows of the registers at one place of a function.
namespace ingot::vm {

inline constexpr Register kNoRegister = UINT16_MAX;

struct RegisterState {
  enum Flag : uint8_t {
    Counted = 1,   // must be released, moved or returned (its slot may say `borrowed`, then releasing does nothing)
    Borrowed = 2,  // may be an alias: may not escape
    Arena = 4,     // may lie in an arena
    Writable = 8,  // a tensor that this function allocated and that nobody else has seen
  };

  ValueClass value{0, DType::None};  // no kinds: the register is empty
  uint8_t flags = 0;
  Register root = kNoRegister;  // an alias of what this register counts; it is stale once that is gone
  uint32_t range = kNoSite;     // of LiveRanges: covers the accesses through this register
  Origin origin;
  uint32_t stamp = 0;       // names this write of the register
  uint32_t root_stamp = 0;  // the stamp that the root must have

  bool empty() const { return value.kinds == 0; }
  bool has(uint8_t flag) const { return (flags & flag) != 0; }
  // Values without objects have no owner.
  RegisterState normalized() const {
    RegisterState state = *this;
    if (value.is_immediate()) {
      state.flags = 0;
      state.root = kNoRegister;
      state.range = kNoSite;
    } else if (!value.may_be(Kind::Tensor)) {
      state.flags &= static_cast<uint8_t>(~Arena);
    }
    return state;
  }
};

inline RegisterState immediate_state(Kind kind, DType dtype = DType::None) {
  RegisterState state;
  state.value = ValueClass::of(kind, dtype);
  return state;
}
inline RegisterState counted_state(ValueClass value) {
  RegisterState state;
  state.value = value;
  state.flags = RegisterState::Counted;
  return state.normalized();
}

// The registers that hold something, ascending, without stale aliases.
struct Snapshot {
  struct Entry {
    Register reg;
    RegisterState state;
  };
  std::vector<Entry> entries;
  bool planned = false;
};

class RegisterFile {
 public:
  explicit RegisterFile(uint32_t registers)
      : states_(registers), held_(registers), counted_(registers), reported_(registers) {}

  const RegisterState& operator[](Register reg) const { return states_[reg]; }
  // An alias whose root was written or taken since.
  bool stale(const RegisterState& state) const {
    return state.root != kNoRegister && states_[state.root].stamp != state.root_stamp;
  }
  void set(Register reg, const RegisterState& state) {
    RegisterState& old = states_[reg];
    if (old.empty()) held_.insert(reg);
    if (old.has(RegisterState::Counted) != state.has(RegisterState::Counted)) flip_counted(reg);
    old = state;
  }
  void clear(Register reg) {
    RegisterState& old = states_[reg];
    if (old.empty()) return;
    held_.erase(reg);
    if (old.has(RegisterState::Counted)) flip_counted(reg);
    old = {};
  }

  const RegisterSet& held() const { return held_; }
  const RegisterSet& counted() const { return counted_; }
  bool planned = false;
  // Adds how counted() differs from what it was at the call before, as changes at `unit`.
  void report_changes(uint32_t unit, std::vector<CountedChange>& to) {
    if (!touched_.empty()) add_changes(unit, to);
  }

  Snapshot snapshot();
  void restore(const Snapshot& snapshot);
  // An empty snapshot, with the memory of one that was given back.
  Snapshot spare();
  void give_back(Snapshot&& snapshot) { spares_.push_back(std::move(snapshot)); }

 private:
  void add_changes(uint32_t unit, std::vector<CountedChange>& to);
  void flip_counted(Register reg) {
    touched_.push_back(reg);
    if (counted_.contains(reg))
      counted_.erase(reg);
    else
      counted_.insert(reg);
  }

  std::vector<RegisterState> states_;
  RegisterSet held_;
  RegisterSet counted_;
  RegisterSet reported_;
  std::vector<Register> touched_;  // since the last report
  std::vector<Snapshot> spares_;
};

}  // namespace ingot::vm
