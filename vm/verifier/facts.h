#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/memory/planner.h"
#include "vm/isa/isa.h"
#include "vm/verifier/value_class.h"

// What the verifier finds out about a program, for the loader (layouts, memory) and the interpreter.
namespace ingot::vm {

inline constexpr uint32_t kNoSite = UINT32_MAX;

// Where a kernel's operand always comes from. Known dimensions are those of:
//   Site      the storage of FunctionFacts::sites[index]
//   Constant  constants[index]; its elements never change
//   Param     parameter (or capture) `index`, as field `index` of the check of check_params states
//   Check     a value that passed checks[index] of the function; its variables may be bound after entry
//   Unknown   several places, a call, a field of a tuple, ...
struct Origin {
  enum class From : uint8_t { Unknown, Site, Constant, Param, Check };
  From from = From::Unknown;
  uint32_t index = 0;
  friend bool operator==(Origin, Origin) = default;
};

// An alloc_tensor, alloc_view or new_tensor that can be reached, in order of units.
struct AllocSite {
  uint32_t unit;
  Opcode opcode;
  uint32_t storage;
  // Of alloc_view: the site whose memory it shows; the loader compares their sizes when it plans (ShapeMismatch). A
  // base may be a view itself.
  uint32_t base = kNoSite;
  // The elements may be read or written at instructions from unit `first` to unit `last`, both included, and nowhere
  // else: aliases, views and loops are accounted for. first > last where nothing touches them. Sites that can lie in
  // one register have one range; views have that of their base.
  uint32_t first = UINT32_MAX;
  uint32_t last = 0;
  // Between them, units from and to which they are not needed either: sides of branches that do not touch them, or not
  // any more. In order, apart from each other, not at `first` or `last`.
  std::vector<Life> gaps = {};
};

// A call_kernel that can be reached. Classes of all operands are checked: Tensor or Scalar, of known dtype.
struct KernelSite {
  uint32_t unit;
  uint32_t kernel;
  std::vector<Origin> operands;     // inputs, then outputs
  std::vector<ValueClass> classes;  // of the same
};

// From unit `unit` on, in order of the code, the register holds a counted value, or does not.
struct CountedChange {
  uint32_t unit;
  Register reg;
  bool counted;
};

struct FunctionFacts {
  // Of everything that the function returns. tail_call_value raises CastFailed where the called function's class is not
  // within this one (a PackedFunc's result is looked at).
  ValueClass result;
  // The function has no check_params, is not exported and never made a closure: its direct callers were checked to give
  // what the signature states. (All others find any value in their parameters.)
  bool trusts_callers = false;
  // The unit where direct calls begin: 0, or behind a check_params that asks for classes alone, which all direct calls
  // of the program were checked to give.
  uint32_t direct_entry = 0;
  // The check of its check_params instruction.
  std::optional<uint32_t> params_check;
  // The unit of its plan instruction, and how many entry dimensions that takes: the first of Function::vars.
  std::optional<uint32_t> plan_unit;
  uint32_t entry_dims = 0;
  std::vector<AllocSite> sites;
  std::vector<KernelSite> kernels;  // in order of units
  std::vector<CountedChange> counted_changes;
};

struct ProgramFacts {
  std::vector<FunctionFacts> functions;
};

}  // namespace ingot::vm
