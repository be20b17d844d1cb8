#pragma once
#include <cstdint>
#include <vector>

#include "vm/verifier/facts.h"
#include "vm/verifier/register_set.h"

// What the verifier knows of the registers at one place of a function.
namespace ingot::vm {

inline constexpr Register kNoRegister = UINT16_MAX;

struct RegisterState {
  enum Flag : uint8_t {
    kCounted = 1,   // must be released, moved or returned (its slot may say `borrowed`, then releasing does nothing)
    kBorrowed = 2,  // may be an alias: may not escape
    kArena = 4,     // may lie in an arena
    kWritable = 8,  // a tensor that this function allocated and that nobody else has seen
  };

  ValueClass value{0, DType::None};  // no kinds: the register is empty
  uint8_t flags = 0;
  Register root = kNoRegister;  // an alias of what this register counts; it is stale once that is gone
  uint32_t range = kNoSite;     // a site whose live range covers the accesses through this register
  Origin origin;
  uint64_t stamp = 0;       // names this write of the register
  uint64_t root_stamp = 0;  // the stamp that the root must have

  bool empty() const { return value.kinds == 0; }
  bool has(uint8_t flag) const { return (flags & flag) != 0; }
  // Values without objects have no owner.
  RegisterState normalized() const;
};

RegisterState immediate_state(Kind kind, DType dtype = DType::None);
RegisterState counted_state(ValueClass value);

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
  void set(Register reg, const RegisterState& state);
  void clear(Register reg);

  const RegisterSet& held() const { return held_; }
  const RegisterSet& counted() const { return counted_; }
  bool planned = false;
  // Adds how counted() differs from what it was at the call before, as changes at `unit`.
  void report_changes(uint32_t unit, std::vector<CountedChange>& to);

  Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);

 private:
  std::vector<RegisterState> states_;
  RegisterSet held_;
  RegisterSet counted_;
  RegisterSet reported_;
  std::vector<Register> touched_;  // since the last report
};

}  // namespace ingot::vm
