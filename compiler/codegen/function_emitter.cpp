#include "compiler/codegen/function_emitter.h"

#include <algorithm>

#include "compiler/codegen/escape.h"
#include "compiler/ir/op.h"
#include "runtime/base/error.h"

namespace ingot::codegen {

using namespace ir;
using vm::Opcode;
using vm::Register;

FunctionEmitter::FunctionEmitter(Tables& tables, const Module& module, const Definition& definition)
    : tables_(&tables),
      module_(&module),
      definition_(&definition),
      source_(definition.function.get()),
      liveness_(analysis::find_liveness(*definition.function)),
      escaping_(find_escaping(*definition.function, tables.callees_write())),
      argument_uses_(find_argument_uses(*definition.function, liveness_)) {}

vm::Function FunctionEmitter::emit() {
  entry();
  sequence(*as<Seq>(source_->body), true, {});
  function_.registers = registers_.count();
  function_.code = code_.finish();
  return std::move(function_);
}

void FunctionEmitter::entry() {
  uint32_t captures = 0;
  if (const auto found = source_->attrs.find(kCaptures); found != source_->attrs.end())
    captures = static_cast<uint32_t>(std::get<int64_t>(found->second));
  function_.name = definition_->name;
  function_.exported = definition_->exported && captures == 0;
  function_.pure = source_->pure;
  function_.captures = captures;
  function_.params = static_cast<uint32_t>(source_->params.size()) - captures;
  function_.signature = source_->info;
  if (source_->span.source != nullptr) function_.source = source_->span.source->name;

  std::vector<StructInfo> infos;
  for (const auto& param : source_->params) {
    if (infos.size() < function_.params) function_.param_names.push_back(param->name);
    infos.push_back(param->info);
    const Register reg = registers_.take();
    places_[param.get()] = {reg, is_plain(param->info) ? Hold::Plain : Hold::Param};
  }
  plan_vars_.clear();
  for (const auto& info : infos) for_each_binding_var(info, [&](const SymVar& var) { plan_vars_.insert(var.get()); });
  plan();
  mark(source_->span);
  if (!infos.empty()) {
    std::vector<Register> vars;
    const uint32_t index = check(tuple_info(std::move(infos)), true, vars);
    code_.emit(Opcode::CheckParams, index, vars);
  }
  if (!function_.storages.empty() || !function_.vars.empty()) {
    std::vector<Register> entry;
    for (const auto& var : function_.vars)
      if (plan_vars_.contains(var.get())) entry.push_back(dims_.at(var.get()));
    if (!function_.storages.empty() || plans_kernels_) code_.emit(Opcode::Plan, entry);
  }
  for (const Var* unused : liveness_.unused_params) kill(unused);
}

namespace {

// Of call_kernel and call_tir; the values of scalar parameters are one shape.
std::vector<Expr> kernel_inputs(const Call& call, const Op& op) {
  if (op.name == "call_kernel") return call.args;
  std::vector<Expr> inputs = {call.args.at(1)};
  if (const auto* tuple = as<Tuple>(call.args[1])) inputs = tuple->fields;
  inputs.insert(inputs.end(), call.args.begin() + 2, call.args.end());
  return inputs;
}

}  // namespace

// Finds the storages and kernels that depend on entry dimensions alone, so that the variables which Plan takes are
// known before any code.
void FunctionEmitter::plan() {
  std::unordered_set<const SymVarNode*> used;
  const auto take = [&](const StructInfo& info) {
    for_each_var(info, [&](const SymVar& var) {
      if (used.insert(var.get()).second && noted_vars_.insert(var.get()).second) function_.vars.push_back(var);
    });
  };
  const auto is_planned = [&](const StructInfo& info) {
    return info->kind == InfoKind::Tensor && info->dims && planned(*info->dims);
  };
  const auto see = [&](const auto& self, const Seq& seq) -> void {
    for (const auto& block : seq.blocks)
      for (const auto& binding : block.bindings) {
        if (const auto* branch = as<If>(binding.value)) {
          self(self, *as<Seq>(branch->then_branch));
          self(self, *as<Seq>(branch->else_branch));
        }
        const auto* call = as<Call>(binding.value);
        const auto* op = call != nullptr ? as<OpExpr>(call->callee) : nullptr;
        if (op == nullptr || (op->op->name != "call_tir" && op->op->name != "call_kernel" && op->op->name != "view"))
          continue;
        for (const auto& info : call->info_args) {
          if (!is_planned(info) || info->dims->empty()) continue;
          storage(info->dtype, *info->dims);
          take(info);
        }
        if (op->op->name == "view") continue;
        const std::vector<Expr> inputs = kernel_inputs(*call, *op->op);
        const bool is_known = std::ranges::all_of(inputs, [&](const Expr& input) { return is_planned(input->info); }) &&
                              std::ranges::all_of(call->info_args, is_planned);
        if (!is_known) continue;
        plans_kernels_ = true;
        for (const Expr& input : inputs) take(input->info);
      }
  };
  see(see, *as<Seq>(source_->body));
  plan_vars_ = std::move(used);
}

void FunctionEmitter::sequence(const Seq& seq, bool tail, std::optional<Register> dest) {
  std::vector<const Binding*> bindings;
  for (const auto& block : seq.blocks)
    for (const auto& binding : block.bindings) bindings.push_back(&binding);
  for (size_t i = 0; i < bindings.size(); ++i) {
    const Binding& binding = *bindings[i];
    const bool is_last = i + 1 == bindings.size();
    const bool is_result =
        is_last && binding.cast == nullptr && binding.var != nullptr && binding.var.get() == as<Var>(seq.body);
    if (tail && is_result && tail_binding(binding)) return;
    if (!is_last && defer_comparison(binding, *bindings[i + 1])) continue;
    const bool fills_dest = is_result && binding.var->annotation == nullptr && is_plain(binding.value->info);
    this->binding(binding, fills_dest ? dest : std::nullopt);
  }
  dying_.clear();
  for (const Var* var : liveness_.dies_at_body[&seq]) dying_.insert(var);
  if (tail) {
    finish_tail(seq);
  } else {
    begin_uses(seq.body);
    if (const auto* var = as<Var>(seq.body); var != nullptr && place_of(var).reg == *dest) {
      places_.erase(var);
      return;
    }
    const Register reg = own(seq.body, dest);
    if (reg != *dest) {
      code_.emit(Opcode::Move, *dest, reg);
      registers_.release(reg);
    }
    release_temporaries();
  }
}

void FunctionEmitter::finish_tail(const Seq& seq) {
  mark(seq.body->span);
  begin_uses(seq.body);
  if (return_check_needed(seq.body->info)) {
    const Place value = produce(seq.body, nullptr);
    check_value(value.reg, source_->result, false);
    if (value.hold == Hold::Arena)
      fail(ErrorCode::Internal, "code generation: @{} returns a tensor of its arena", definition_->name);
    code_.emit(Opcode::Return, value.reg);
    return;
  }
  code_.emit(Opcode::Return, own(seq.body));
}

// Leaves a comparison to the branch behind it, which alone looks at it.
bool FunctionEmitter::defer_comparison(const Binding& binding, const Binding& next) {
  const auto* branch = as<If>(next.value);
  const auto* call = as<Call>(binding.value);
  const auto* op = call == nullptr ? nullptr : as<OpExpr>(call->callee);
  if (branch == nullptr || op == nullptr || binding.var == nullptr || binding.cast != nullptr ||
      binding.var.get() != as<Var>(branch->condition) || binding.var->annotation != nullptr)
    return false;
  const auto& dies = liveness_.dies_at[&next];
  if (std::find(dies.begin(), dies.end(), binding.var.get()) == dies.end()) return false;
  auto code = select_jump_unless(*call, *op->op);
  if (!code) return false;
  mark(binding.span);
  begin_uses(binding.value);
  dying_.clear();
  for (const Var* var : liveness_.dies_at[&binding]) dying_.insert(var);
  std::vector<Register> operands;
  for (const auto& operand : code->operands) operands.push_back(read(operand));
  condition_ = Condition{*std::move(code), std::move(operands)};
  release_temporaries();
  for (const Var* var : dying_)
    if (places_.contains(var)) kill(var);
  return true;
}

void FunctionEmitter::binding(const Binding& binding, std::optional<Register> dest) {
  mark(binding.span);
  dying_.clear();
  bool unused = binding.var == nullptr;
  for (const Var* var : liveness_.dies_at[&binding])
    if (var == binding.var.get())
      unused = true;
    else
      dying_.insert(var);

  begin_uses(binding.value);
  Place place = produce(binding.value, binding.var.get(), dest);
  if (binding.cast != nullptr) {
    check_value(place.reg, binding.cast, true);
    if (is_plain(binding.cast)) place.hold = Hold::Plain;
  } else if (binding.var != nullptr && binding.var->annotation != nullptr &&
             is_compatible(binding.value->info, binding.var->info) != Compatibility::Compatible) {
    check_value(place.reg, binding.var->info, false);
    if (is_plain(binding.var->info)) place.hold = Hold::Plain;
  }
  release_temporaries();
  for (const Var* var : dying_)
    if (places_.contains(var)) kill(var);
  if (unused) {
    drop(place);
  } else {
    places_[binding.var.get()] = place;
  }
}

// A call or branch in tail position leaves the frame itself. False where the binding is none, or its result must be
// checked here.
bool FunctionEmitter::tail_binding(const Binding& binding) {
  const auto* call = as<Call>(binding.value);
  const auto* branch = as<If>(binding.value);
  if (branch == nullptr &&
      (call == nullptr || as<OpExpr>(call->callee) != nullptr || as<ExternFunc>(call->callee) != nullptr))
    return false;
  if (call != nullptr && (return_check_needed(call->info) || states_foreign_result(*call))) return false;
  if (binding.var->annotation != nullptr &&
      is_compatible(binding.value->info, binding.var->info) != Compatibility::Compatible)
    return false;
  mark(binding.span);
  begin_uses(binding.value);
  dying_.clear();
  for (const Var* var : liveness_.dies_at[&binding]) dying_.insert(var);
  if (branch != nullptr) {
    this->branch(*branch, {}, true);
  } else {
    tail_call(*call);
  }
  return true;
}

void FunctionEmitter::branch(const If& e, std::optional<Register> dest, bool tail) {
  const auto compared = std::exchange(condition_, std::nullopt);
  Register condition = compared ? Register{0} : read(e.condition);
  if (!compared && e.condition->info->kind == InfoKind::Prim) {
    const Register scalar = registers_.take();
    code_.emit(Opcode::PrimToScalar, scalar, condition);
    temporaries_.push_back({scalar, Hold::Plain});
    condition = scalar;
  }
  release_temporaries();
  for (const Var* var : std::unordered_set<const Var*>(dying_))
    if (places_.contains(var)) kill(var);

  const vm::Label otherwise = code_.new_label();
  const vm::Label end = code_.new_label();
  if (!compared) {
    code_.emit(Opcode::JumpUnless, condition, otherwise);
  } else if (compared->code.immediate) {
    code_.emit(compared->code.opcode, compared->operands[0], *compared->code.immediate, otherwise);
  } else {
    code_.emit(compared->code.opcode, compared->operands[0], compared->operands[1], otherwise);
  }
  const auto places = places_;
  const auto dims = dims_;
  const auto registers = registers_;

  const auto run = [&](const Expr& body) {
    const auto& seq = *as<Seq>(body);
    for (const Var* var : liveness_.dies_at_entry[&seq])
      if (places_.contains(var)) kill(var);
    sequence(seq, tail, dest);
  };
  run(e.then_branch);
  // What a tail call read goes with its frame.
  temporaries_.clear();
  if (!tail) code_.emit(Opcode::Jump, end);
  code_.bind(otherwise);
  const size_t used = registers_.count();
  places_ = places;
  dims_ = dims;
  registers_ = registers;
  registers_.reserve(used);
  run(e.else_branch);
  if (!tail) {
    code_.bind(end);
    for (const auto& [var, reg] : dims_)
      if (!dims.contains(var)) registers_.release(reg);
    dims_ = dims;
  }
  dying_.clear();
}

bool FunctionEmitter::return_check_needed(const StructInfo& given) const {
  return source_->result != nullptr && is_compatible(given, source_->result) != Compatibility::Compatible;
}

void FunctionEmitter::mark(const Span& span) {
  if (span.line == 0) return;
  if (!function_.spans.empty()) {
    auto& last = function_.spans.back();
    if (last.line == span.line && last.column == span.column) return;
    if (last.unit == code_.here()) {
      last = {code_.here(), span.line, span.column};
      return;
    }
  }
  function_.spans.push_back({code_.here(), span.line, span.column});
}

}  // namespace ingot::codegen
