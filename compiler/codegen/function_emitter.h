#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/codegen/argument_uses.h"
#include "compiler/codegen/registers.h"
#include "compiler/codegen/scalar_code.h"
#include "compiler/codegen/tables.h"
#include "compiler/ir/module.h"
#include "vm/isa/encode.h"

namespace ingot::codegen {

// Who answers for what a register holds.
//   Plain     nothing to release: a scalar, a prim, none
//   Counted   this frame: it must be killed, moved or returned
//   Param     this frame, but it may be an alias that the caller keeps: `own` before it escapes
//   Constant  nobody: uncounted, may escape
//   Arena     the frame's segment: must not escape
enum class Hold : uint8_t { Plain, Counted, Param, Constant, Arena };

struct Place {
  vm::Register reg = 0;
  Hold hold = Hold::Plain;
};

// A value that needs no count whatever it is: a rank-0 tensor of known numeric dtype, or a prim. Its register is always
// Plain: what cannot be known from the instruction that made it is checked at once.
bool is_plain(const StructInfo& info);

// Emits the code of one function of form Lowered.
//
// Structured control flow and liveness decide everything in one forward walk: a value is moved at its last use, killed
// where it dies unused, and a branch kills what only the other one needs. Values that die as arguments are computed
// where the callee's registers will start, as far as that is free; a comparison that only its branch looks at becomes
// part of the jump.
class FunctionEmitter {
 public:
  FunctionEmitter(Tables& tables, const ir::Module& module, const ir::Definition& definition);
  vm::Function emit();

 private:
  // A comparison whose operands are in registers, but which is not computed yet.
  struct Condition {
    ScalarCode code;
    std::vector<vm::Register> operands;
  };

  // function_emitter.cpp: entry, sequences, branches, exit
  void entry();
  void plan();
  void sequence(const ir::Seq& seq, bool tail, std::optional<vm::Register> dest);
  void binding(const ir::Binding& binding, std::optional<vm::Register> dest);
  bool defer_comparison(const ir::Binding& binding, const ir::Binding& next);
  bool tail_binding(const ir::Binding& binding);
  void finish_tail(const ir::Seq& seq);
  void branch(const ir::If& e, std::optional<vm::Register> dest, bool tail);
  bool return_check_needed(const StructInfo& given) const;
  void mark(const ir::Span& span);

  // emit_values.cpp: leaves and where they are held
  Place produce(const ir::Expr& e, const ir::Var* bound, std::optional<vm::Register> dest = {});
  vm::Register read(const ir::Expr& leaf);
  vm::Register read_outside_arena(const ir::Expr& leaf);
  vm::Register own(const ir::Expr& leaf, std::optional<vm::Register> dest = {});
  vm::Register emit_taking(std::span<const ir::Expr> values, std::optional<vm::Register> dest,
                           const std::function<void(vm::Register, const std::vector<vm::Register>&)>& emit);
  void pass(const ir::Expr& leaf, vm::Register slot);
  Place settle(Place place, const StructInfo& info);
  void begin_uses(const ir::Expr& value);
  bool moves(const ir::Var* var);
  void release_temporaries();
  void drop(Place place);
  void kill(const ir::Var* var);
  vm::Register target(std::optional<vm::Register> dest) { return dest ? *dest : registers_.take(); }
  vm::Register target_for(const ir::Var* bound, std::optional<vm::Register> dest);
  void release_dying(std::span<const ir::Expr> operands);
  const Place& place_of(const ir::Var* var) const;
  void load_tensor_constant(const ir::Constant& constant, vm::Register dest);

  // emit_calls.cpp
  Place call(const ir::Call& e, const ir::Var* bound, std::optional<vm::Register> dest);
  Place call_operator(const ir::Call& e, const ir::Op& op, const ir::Var* bound, std::optional<vm::Register> dest);
  Place call_scalar(const ir::Call& e, const ir::Op& op, const ir::Var* bound, std::optional<vm::Register> dest);
  // Is it a call of a PackedFunc that a variable holds, of whose result something is claimed?
  static bool states_foreign_result(const ir::Call& e);
  Place call_packed(const ir::Call& e, const ir::ExternFunc& callee, std::span<const ir::Expr> args,
                    std::optional<vm::Register> dest);
  Place call_function(const ir::Call& e, std::optional<vm::Register> dest);
  void tail_call(const ir::Call& e);

  // windows.cpp: where arguments stand
  vm::Register planned_base(const ArgumentUse& use);
  bool stays(const ir::Call& e, size_t arg, size_t base) const;
  std::optional<size_t> window_cost(const ir::Call& e, size_t base, bool tail) const;
  vm::Register open_window(const ir::Call& e, bool tail);

  // emit_tensors.cpp: dimensions, checks, allocation, kernels
  vm::Register dim(const PrimExpr& expr);
  std::vector<vm::Register> dims(std::span<const PrimExpr> exprs);
  void eval_dim(const PrimExpr& expr, vm::Register dest);
  uint32_t storage(DType dtype, std::span<const PrimExpr> dims);
  uint32_t check(const StructInfo& info, bool binds, std::vector<vm::Register>& vars);
  void check_value(vm::Register reg, const StructInfo& info, bool binds);
  Place allocate(const StructInfo& info, bool escapes);
  Place call_kernel(KernelCall kernel, std::span<const ir::Expr> inputs, std::span<const StructInfo> outputs,
                    const ir::Var* bound, std::optional<vm::Register> dest);
  Place call_tir(const ir::Call& e, const ir::Var* bound, std::optional<vm::Register> dest);
  Place view(const ir::Call& e, std::optional<vm::Register> dest);
  bool planned(std::span<const PrimExpr> dims) const;
  void note_vars(const PrimExpr& expr);
  void note_vars(const StructInfo& info);

  Tables* tables_;
  const ir::Module* module_;
  const ir::Definition* definition_;
  const ir::Function* source_;
  vm::Function function_;
  vm::CodeBuilder code_;
  Registers registers_;
  analysis::Liveness liveness_;
  std::unordered_set<const ir::Var*> escaping_;
  ArgumentUses argument_uses_;
  std::unordered_map<const ir::Call*, vm::Register> planned_bases_;

  std::unordered_map<const ir::Var*, Place> places_;
  std::unordered_map<const SymVarNode*, vm::Register> dims_;
  std::unordered_set<const SymVarNode*> plan_vars_;
  std::unordered_set<const SymVarNode*> noted_vars_;
  std::unordered_map<std::string, uint32_t> storages_;
  bool plans_kernels_ = false;

  // Of the binding that is being emitted.
  std::unordered_set<const ir::Var*> dying_;
  std::unordered_map<const ir::Var*, size_t> uses_left_;
  std::vector<Place> temporaries_;
  std::optional<Condition> condition_;  // of the branch that comes next
};

}  // namespace ingot::codegen
