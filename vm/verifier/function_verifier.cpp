#include "vm/verifier/function_verifier.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace ingot::vm {

FunctionVerifier::FunctionVerifier(const Program& program, const ProgramFacts& facts, uint32_t function,
                                   const ControlFlow& flow, RegisterFile& registers)
    : program_(program),
      program_facts_(facts),
      function_(program.functions[function]),
      flow_(flow),
      facts_(facts.functions[function]),
      registers_(registers),
      pending_(flow.target_count + size_t{1}),
      work_left_((uint64_t{1} << 22) + 64 * function_.code.size()) {
  facts_.plan_unit = flow.plan_unit;
  facts_.entry_dims = 0;
  facts_.sites.clear();
  facts_.kernels.clear();
  if (function_.storages.empty() && function_.exprs.empty()) return;
  std::unordered_map<const SymVarNode*, size_t> positions;
  for (const SymVar& var : function_.vars) positions.emplace(var.get(), positions.size() + 1);
  for (const Storage& storage : function_.storages) {
    size_t needs = 0;
    for (const PrimExpr& dim : storage.dims)
      for_each_var(dim, [&](const SymVar& var) {
        const auto found = positions.find(var.get());
        needs = std::max(needs, found == positions.end() ? SIZE_MAX : found->second);
      });
    storage_needs_.push_back(needs);
  }
  for (const PrimExpr& expr : function_.exprs) {
    size_t vars = 0;
    for_each_var(expr, [&](const SymVar&) { ++vars; });
    expr_vars_.push_back(vars);
  }
}

FunctionFacts FunctionVerifier::verify() {
  walk();
  ranges_.finish(flow_, facts_.sites);
  return std::move(facts_);
}

// Parameters and captures are the function's to release; parameters may be aliases of what the caller keeps.
void FunctionVerifier::enter() {
  registers_.restore({});
  registers_.report_changes(0, facts_.counted_changes);
  facts_.counted_changes.clear();
  for (uint32_t reg = 0; reg < function_.params + function_.captures; ++reg) {
    const bool is_param = reg < function_.params;
    RegisterState state =
        counted_state(facts_.trusts_callers && is_param ? class_of(function_.signature->fields[reg]) : ValueClass{});
    state.flags |= RegisterState::Borrowed | (is_param ? RegisterState::Arena : 0);
    state = state.normalized();
    state.stamp = next_stamp();
    registers_.set(static_cast<Register>(reg), state);
  }
}

void FunctionVerifier::walk() {
  enter();
  for (const Instruction& i : Instructions<Unchecked>(function_.code)) {
    at_ = i.at;
    if (std::optional<Snapshot>& met = pending_[flow_.targets[i.at]]) {
      if (reachable_) meet(*met, registers_.snapshot(), i.at);
      spend(met->entries.size() + registers_.held().size());
      registers_.restore(*met);
      registers_.give_back(std::move(*met));
      met.reset();
      reachable_ = true;
    }
    if (!reachable_) continue;
    registers_.report_changes(i.at, facts_.counted_changes);
    try {
      step(i);
    } catch (Error& error) {
      error.add_context(fmt::format("unit {} ({})", i.at, i.info->mnemonic));
      throw;
    }
  }
  if (reachable_)
    fail(ErrorCode::CorruptFile, "a path runs over the end of the code at unit {}", function_.code.size());
}

void FunctionVerifier::step(const Instruction& i) {
  if (i.info->form == OpcodeForm::Plain)
    plain(i);
  else
    typed(i);
}

// What meets is bounded, so that no program makes the verifier work out of proportion to its size.
void FunctionVerifier::spend(size_t work) {
  if (work > work_left_) fail(ErrorCode::CorruptFile, "too many registers meet at too many jumps");
  work_left_ -= work;
}

// Stamps are never used twice, or an alias might seem to have the root that it lost.
uint32_t FunctionVerifier::next_stamp() {
  if (stamps_ == UINT32_MAX) fail(ErrorCode::CorruptFile, "the function writes too many registers");
  return ++stamps_;
}

void FunctionVerifier::jump(const Instruction& i, const Operand& target) {
  const auto to = static_cast<uint32_t>(i.target(target));
  if (to <= i.at) return jump_back(to);
  leave(to);
}

void FunctionVerifier::leave(uint32_t target) {
  Snapshot state = registers_.snapshot();
  spend(state.entries.size());
  std::optional<Snapshot>& there = pending_[flow_.targets[target]];
  if (there)
    meet(*there, std::move(state), target);
  else
    there = std::move(state);
}

// `a` becomes what holds on both paths.
void FunctionVerifier::meet(Snapshot& a, Snapshot&& b, uint32_t at) {
  spend(a.entries.size() + b.entries.size());
  Snapshot met = registers_.spare();
  met.planned = a.planned && b.planned;
  const auto only_here = [&](const Snapshot::Entry& entry) {
    if (entry.state.has(RegisterState::Counted))
      fail(ErrorCode::CorruptFile, "r{} holds a value on one path to unit {} and is empty on another", entry.reg, at);
  };
  auto left = a.entries.begin();
  auto right = b.entries.begin();
  while (left != a.entries.end() || right != b.entries.end()) {
    if (right == b.entries.end() || (left != a.entries.end() && left->reg < right->reg)) {
      only_here(*left++);
    } else if (left == a.entries.end() || right->reg < left->reg) {
      only_here(*right++);
    } else {
      const RegisterState state = meet(left->state, right->state, left->reg, at);
      if (!state.empty()) met.entries.push_back({left->reg, state});
      ++left;
      ++right;
    }
  }
  for (Snapshot::Entry& entry : met.entries) {
    if (entry.state.root == kNoRegister) continue;
    const auto root = std::ranges::lower_bound(met.entries, entry.state.root, {}, &Snapshot::Entry::reg);
    entry.state.root_stamp = root->state.stamp;
  }
  registers_.give_back(std::move(b));
  std::swap(a, met);
  registers_.give_back(std::move(met));
}

RegisterState FunctionVerifier::meet(const RegisterState& a, const RegisterState& b, Register reg, uint32_t at) {
  using Flags = RegisterState::Flag;
  RegisterState met;
  met.value.kinds = a.value.kinds | b.value.kinds;
  met.value.dtype = a.value.dtype == b.value.dtype ? a.value.dtype : DType::None;
  met.flags = static_cast<uint8_t>(((a.flags | b.flags) & ~Flags::Writable) | (a.flags & b.flags & Flags::Writable));
  if (a.root != b.root) {
    if (met.has(Flags::Counted))
      fail(ErrorCode::CorruptFile, "r{} holds an alias on one path to unit {} and a value to be released on another",
           reg, at);
    return {};
  }
  met.root = a.root;
  met.range = a.range == kNoSite ? b.range : b.range == kNoSite ? a.range : ranges_.meet(a.range, b.range);
  met.origin = a.origin == b.origin ? a.origin : Origin{};
  met.stamp = a.stamp == b.stamp ? a.stamp : next_stamp();
  return met;
}

void FunctionVerifier::check_fits(const LoopRegister& declared, const RegisterState& state) const {
  using Flags = RegisterState::Flag;
  const ValueClass wanted{declared.kind == Kind::None ? ValueClass::kAny : ValueClass::bit(declared.kind),
                          declared.dtype};
  if (state.empty() || registers_.stale(state))
    fail(ErrorCode::CorruptFile, "r{} is empty, the loop header wants {}", declared.index, to_text(wanted));
  if (!state.value.within(wanted))
    fail(ErrorCode::CorruptFile, "r{} holds {}, the loop header wants {}", declared.index, to_text(state.value),
         to_text(wanted));
  const bool from_frame = state.root != kNoRegister || state.range != kNoSite;
  const bool fits = declared.holding == Holding::Kept || (declared.holding == Holding::Param && !from_frame) ||
                    (declared.holding == Holding::Owned && !state.has(Flags::Borrowed | Flags::Arena)) ||
                    !state.has(Flags::Counted | Flags::Borrowed | Flags::Arena);
  if (!fits)
    fail(ErrorCode::CorruptFile, "r{} holds a value that the loop header does not let pass from turn to turn",
         declared.index);
}

void FunctionVerifier::loop_header(uint32_t unit) {
  using Flags = RegisterState::Flag;
  const auto& headers = function_.loops;
  const LoopHeader& header = *std::ranges::lower_bound(headers, unit, {}, &LoopHeader::unit);
  Snapshot entry;
  entry.planned = registers_.planned;
  size_t counted = 0;
  for (const LoopRegister& declared : header.registers) {
    const RegisterState& now = registers_[declared.index];
    check_fits(declared, now);
    counted += now.has(Flags::Counted) ? 1 : 0;
    RegisterState state = now;
    if (declared.holding == Holding::Kept) {
      if (state.has(Flags::Counted)) state.flags &= static_cast<uint8_t>(~Flags::Writable);
    } else {
      state = {};
      state.stamp = next_stamp();
      if (declared.holding != Holding::Uncounted) state.flags = Flags::Counted;
      if (declared.holding == Holding::Param) state.flags |= Flags::Borrowed | Flags::Arena;
    }
    state.value = {declared.kind == Kind::None ? ValueClass::kAny : ValueClass::bit(declared.kind), declared.dtype};
    entry.entries.push_back({declared.index, state.normalized()});
  }
  if (counted != registers_.counted().size())
    fail(ErrorCode::CorruptFile, "{} registers hold values that must be released, the loop header lists {} of them",
         registers_.counted().size(), counted);
  spend(entry.entries.size() + registers_.held().size());
  registers_.restore(entry);
  loop_entries_.emplace(unit, std::move(entry));
}

void FunctionVerifier::jump_back(uint32_t unit) {
  const auto found = loop_entries_.find(unit);
  if (found == loop_entries_.end())
    fail(ErrorCode::CorruptFile, "no path leads to the loop header at unit {} from before it", unit);
  const Snapshot& entry = found->second;
  const LoopHeader& header = *std::ranges::lower_bound(function_.loops, unit, {}, &LoopHeader::unit);
  spend(entry.entries.size());
  if (entry.planned && !registers_.planned) fail(ErrorCode::CorruptFile, "the loop header stands behind plan");
  size_t counted = 0;
  for (size_t k = 0; k < header.registers.size(); ++k) {
    const LoopRegister& declared = header.registers[k];
    const RegisterState& now = registers_[declared.index];
    check_fits(declared, now);
    counted += now.has(RegisterState::Counted) ? 1 : 0;
    if (declared.holding == Holding::Kept && now.stamp != entry.entries[k].state.stamp)
      fail(ErrorCode::CorruptFile, "r{} was written in the loop, its header says that it is kept", declared.index);
  }
  if (counted != registers_.counted().size())
    fail(ErrorCode::CorruptFile, "{} registers hold values that must be released, the loop header lists {} of them",
         registers_.counted().size(), counted);
}

}  // namespace ingot::vm
