#include <algorithm>

#include "compiler/codegen/function_emitter.h"

// Where the arguments of calls stand. The callee's registers begin at the first argument, and everything from there on
// is the callee's: a window begins above all registers that live on, and holds the dying values that were computed into
// it already.
namespace ingot::codegen {

using namespace ir;
using vm::Opcode;
using vm::Register;

// Where the window of the call will probably begin. A tail call's arguments end up in the first registers anyway; the
// result of a call that is an argument itself is best computed where it is wanted.
Register FunctionEmitter::planned_base(const ArgumentUse& use) {
  const auto known = planned_bases_.find(use.call);
  if (known != planned_bases_.end()) return known->second;
  Register base = registers_.top();
  if (argument_uses_.tail.contains(use.call)) {
    if (registers_.is_free(use.index)) base = 0;
  } else if (const auto outer = argument_uses_.of_result.find(use.call); outer != argument_uses_.of_result.end()) {
    base = std::max(base, static_cast<Register>(planned_base(outer->second) + outer->second.index));
  }
  planned_bases_.emplace(use.call, base);
  return base;
}

// A register for a value that is about to be made: its place in the window where it is an argument, else any.
Register FunctionEmitter::target_for(const Var* bound, std::optional<Register> dest) {
  if (dest) return *dest;
  const auto use = argument_uses_.of.find(bound);
  if (use == argument_uses_.of.end()) return registers_.take();
  const size_t reg = size_t{planned_base(use->second)} + use->second.index;
  if (reg > vm::kMaxRegisters || !registers_.is_free(reg)) return registers_.take();
  registers_.claim(static_cast<Register>(reg));
  return static_cast<Register>(reg);
}

// Registers of scalars that die with the instruction that reads them may take its result.
void FunctionEmitter::release_dying(std::span<const Expr> operands) {
  for (const auto& operand : operands) {
    const auto* var = as<Var>(operand);
    if (var != nullptr && dying_.contains(var) && places_.contains(var) && place_of(var).hold == Hold::Plain) kill(var);
  }
}

// Is the argument a dying value that stands in its place already?
bool FunctionEmitter::stays(const Call& e, size_t arg, size_t base) const {
  const auto* var = as<Var>(e.args[arg]);
  if (var == nullptr || !dying_.contains(var) || uses_left_.at(var) != 1) return false;
  const Place place = place_of(var);
  const bool moves = place.hold == Hold::Plain || place.hold == Hold::Counted || place.hold == Hold::Param;
  return moves && place.reg == base + arg;
}

// How many instructions it takes to fill a window there; nullopt where something else lives on above.
std::optional<size_t> FunctionEmitter::window_cost(const Call& e, size_t base, bool tail) const {
  size_t staying = 0;
  for (size_t reg = base; reg < registers_.top(); ++reg) {
    if (registers_.is_free(reg)) continue;
    if (reg - base >= e.args.size() || !stays(e, reg - base, base)) return {};
    ++staying;
  }
  // A tail call that begins elsewhere copies its arguments down.
  return e.args.size() - staying + (tail && base != 0 ? 1 : 0);
}

// Puts the arguments into the cheapest window and gives its first register; all registers of the window are claimed.
Register FunctionEmitter::open_window(const Call& e, bool tail) {
  std::vector<size_t> candidates{registers_.top()};
  if (tail) candidates.push_back(0);
  for (size_t i = 0; i < e.args.size(); ++i)
    if (const auto* var = as<Var>(e.args[i]); var != nullptr && place_of(var).reg >= i)
      candidates.push_back(place_of(var).reg - i);
  size_t base = candidates[0];
  size_t cost = *window_cost(e, base, tail);
  for (const size_t candidate : candidates)
    if (const auto other = window_cost(e, candidate, tail); other && *other < cost) {
      base = candidate;
      cost = *other;
    }

  registers_.reserve(base + std::max<size_t>(1, e.args.size()));
  std::vector<bool> in_place;
  for (size_t i = 0; i < e.args.size(); ++i) {
    in_place.push_back(stays(e, i, base));
    if (!in_place[i]) registers_.claim(static_cast<Register>(base + i));
  }
  for (size_t i = 0; i < e.args.size(); ++i) {
    const auto slot = static_cast<Register>(base + i);
    const auto* var = as<Var>(e.args[i]);
    if (in_place[i]) {
      places_.erase(var);
    } else if (!tail) {
      pass(e.args[i], slot);
    } else if (var != nullptr && place_of(var).hold == Hold::Param && uses_left_[var] == 1) {
      // A parameter moves on with its flag: what it may be an alias of outlives this frame.
      code_.emit(Opcode::Move, slot, place_of(var).reg);
      places_.erase(var);
    } else {
      own(e.args[i], slot);
    }
  }
  return static_cast<Register>(base);
}

}  // namespace ingot::codegen
