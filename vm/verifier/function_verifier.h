#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vm/executable/program.h"
#include "vm/isa/decode.h"
#include "vm/verifier/control_flow.h"
#include "vm/verifier/facts.h"
#include "vm/verifier/live_ranges.h"
#include "vm/verifier/register_file.h"

namespace ingot::vm {

// Walks one function forward once, with an abstract state of every register. Jumps forward leave their state at the
// target, where states meet; a loop header has the state that the function's table declares, to which every jump back
// must fit.
//
// `facts` must have `result`, `trusts_callers` and `params_check` of all functions. `registers` has room for the
// function's; whatever it holds is forgotten, so that many small functions share one. Throws CorruptFile naming unit
// and instruction.
class FunctionVerifier {
 public:
  FunctionVerifier(const Program& program, const ProgramFacts& facts, uint32_t function, const ControlFlow& flow,
                   RegisterFile& registers);

  // Adds plan, sites, kernels and changes to what `facts` says of the function.
  FunctionFacts verify();

  // Functions whose direct_entry asks for more than some direct call of this one is known to give.
  const std::vector<uint32_t>& doubted_callees() const { return doubted_callees_; }

 private:
  // function_verifier.cpp: walk, joins, loops
  void enter();
  void walk();
  void step(const Instruction& i);
  void leave(uint32_t target);
  void jump(const Instruction& i, const Operand& target);
  void meet(Snapshot& a, Snapshot&& b, uint32_t at);
  RegisterState meet(const RegisterState& a, const RegisterState& b, Register reg, uint32_t at);
  void loop_header(uint32_t unit);
  void jump_back(uint32_t header);
  void check_fits(const LoopRegister& declared, const RegisterState& state) const;
  void spend(size_t work);
  uint32_t next_stamp();

  // register_access.cpp: reading and writing registers
  const RegisterState& peek(Register reg) const;
  const RegisterState& use(Register reg);
  const RegisterState& use(Register reg, Kind kind, DType dtype = DType::None);
  RegisterState take(Register reg);
  RegisterState take_owned(Register reg, std::string_view where);
  void define(Register reg, RegisterState state);
  void seen_by_others(Register reg);
  void touch(const RegisterState& state);
  [[noreturn]] void fail_use(Register reg) const;
  [[noreturn]] void fail_class(Register reg, ValueClass wanted) const;
  void use_dims(std::span<const Register> regs);
  void refine(Register reg, const StructInfo& info);

  // instruction_rules.cpp: one rule for each line of opcodes.def
  void typed(const Instruction& i);
  void plain(const Instruction& i);
  void values(const Instruction& i);
  void any_values(const Instruction& i);
  void calls(const Instruction& i);
  void memory(const Instruction& i);
  void load_const(Register reg, uint32_t constant);
  void alias(Register to, Register from);
  void own(Register to, Register from);
  void check(const Instruction& i, uint32_t check, std::span<const Register> vars);
  void check_params(const Instruction& i);
  void plan(const Instruction& i);
  bool agrees_with_plan(const Check& check) const;
  void call(const Instruction& i);
  void call_value(const Instruction& i);
  void tail_call(const Instruction& i);
  void tail_call_value(const Instruction& i);
  void call_packed(const Instruction& i);
  void call_kernel(const Instruction& i);
  ValueClass kernel_operand(const KernelCall& call, Register reg, size_t operand);
  void check_prim_func_operand(const KernelCall& call, size_t operand, ValueClass value) const;
  void return_value(Register reg);
  void window(Register base, size_t arguments, std::optional<uint32_t> callee);
  void tail_window(Register base, size_t arguments, std::optional<uint32_t> callee);
  void check_arguments(Register base, uint32_t callee);
  void check_storage(uint32_t storage) const;
  void allocate(const Instruction& i, Register reg, uint32_t storage, uint32_t base);

  const Program& program_;
  const ProgramFacts& program_facts_;
  const Function& function_;
  const ControlFlow& flow_;
  FunctionFacts facts_;

  RegisterFile& registers_;
  LiveRanges ranges_;
  std::vector<std::optional<Snapshot>> pending_;         // states of jumps forward, by ControlFlow::targets
  std::unordered_map<uint32_t, Snapshot> loop_entries_;  // by header
  std::vector<size_t> storage_needs_;                    // by storage: so many of function_.vars hold all that it uses
  std::vector<size_t> expr_vars_;                        // by expression: how many variables it has
  std::vector<uint32_t> doubted_callees_;
  std::vector<uint32_t> check_stamps_;  // what the last check bound its variables to, or compared them with
  std::unordered_map<const SymVarNode*, uint32_t> param_stamps_;  // of what check_params bound, or compared with
  std::unordered_map<const SymVarNode*, uint32_t> plan_stamps_;   // of what plan took for entry dimensions
  uint32_t stamps_ = 0;
  uint64_t work_left_;
  uint32_t at_ = 0;  // of the current instruction
  bool reachable_ = true;
};

inline const RegisterState& FunctionVerifier::peek(Register reg) const {
  const RegisterState& state = registers_[reg];
  if (state.empty() || registers_.stale(state)) fail_use(reg);
  return state;
}

inline void FunctionVerifier::touch(const RegisterState& state) {
  if (state.range != kNoSite) ranges_.touch(state.range, at_);
}

inline const RegisterState& FunctionVerifier::use(Register reg) {
  const RegisterState& state = peek(reg);
  touch(state);
  return state;
}

inline const RegisterState& FunctionVerifier::use(Register reg, Kind kind, DType dtype) {
  const RegisterState& state = use(reg);
  const ValueClass wanted = ValueClass::of(kind, dtype);
  if (!state.value.within(wanted)) fail_class(reg, wanted);
  return state;
}

}  // namespace ingot::vm
