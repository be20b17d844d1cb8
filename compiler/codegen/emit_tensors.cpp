#include <algorithm>

#include "compiler/codegen/function_emitter.h"
#include "compiler/ir/op.h"
#include "runtime/base/error.h"
#include "runtime/checks/match.h"

namespace ingot::codegen {

using namespace ir;
using vm::Opcode;
using vm::Register;

void FunctionEmitter::note_vars(const PrimExpr& expr) {
  for_each_var(expr, [&](const SymVar& var) {
    if (noted_vars_.insert(var.get()).second) function_.vars.push_back(var);
  });
}

void FunctionEmitter::note_vars(const StructInfo& info) {
  for_each_var(info, [&](const SymVar& var) {
    if (noted_vars_.insert(var.get()).second) function_.vars.push_back(var);
  });
}

void FunctionEmitter::eval_dim(const PrimExpr& expr, Register dest) {
  if (const auto value = expr.as_const(); value && *value == static_cast<int32_t>(*value)) {
    code_.emit(Opcode::LoadDim, dest, *value);
    return;
  }
  note_vars(expr);
  std::vector<Register> vars;
  for_each_var(expr, [&](const SymVar& var) {
    const auto found = dims_.find(var.get());
    if (found == dims_.end())
      fail(ErrorCode::Internal, "code generation: shape variable {} is used where it is not bound", var->name);
    vars.push_back(found->second);
  });
  if (expr.op() == PrimOp::Var) {
    code_.emit(Opcode::Copy, dest, vars[0]);
    return;
  }
  function_.exprs.push_back(expr);
  code_.emit(Opcode::EvalDim, dest, static_cast<uint32_t>(function_.exprs.size() - 1), vars);
}

Register FunctionEmitter::dim(const PrimExpr& expr) {
  if (expr.op() == PrimOp::Var)
    if (const auto found = dims_.find(expr.var().get()); found != dims_.end()) return found->second;
  const Register reg = registers_.take();
  eval_dim(expr, reg);
  temporaries_.push_back({reg, Hold::Plain});
  return reg;
}

std::vector<Register> FunctionEmitter::dims(std::span<const PrimExpr> exprs) {
  std::vector<Register> regs;
  for (const auto& expr : exprs) regs.push_back(dim(expr));
  return regs;
}

uint32_t FunctionEmitter::storage(DType dtype, std::span<const PrimExpr> dims) {
  std::string key(dtype_name(dtype));
  for (const auto& dim : dims) {
    key += ',' + to_text(dim);
    for_each_var(dim, [&](const SymVar& var) { key += fmt::format("@{}", fmt::ptr(var.get())); });
  }
  const auto [entry, is_new] = storages_.emplace(std::move(key), static_cast<uint32_t>(function_.storages.size()));
  if (is_new) function_.storages.push_back({dtype, {dims.begin(), dims.end()}});
  return entry->second;
}

bool FunctionEmitter::planned(std::span<const PrimExpr> dims) const {
  return std::ranges::all_of(dims, [&](const PrimExpr& dim) {
    bool known = true;
    for_each_var(dim, [&](const SymVar& var) { known = known && plan_vars_.contains(var.get()); });
    return known;
  });
}

// The check's place in the table; gives its variables' registers, taking one for each variable that it binds.
uint32_t FunctionEmitter::check(const StructInfo& info, bool binds, std::vector<Register>& vars) {
  std::unordered_set<const SymVarNode*> standing_alone;
  for_each_binding_var(info, [&](const SymVar& var) { standing_alone.insert(var.get()); });
  note_vars(info);
  vm::Check check{info, {}};
  std::unordered_set<const SymVarNode*> of_values;
  for_each_value_var(info, [&](const SymVar& var) { of_values.insert(var.get()); });
  for_each_var(info, [&](const SymVar& var) {
    auto found = dims_.find(var.get());
    const bool bind = found == dims_.end();
    if (bind && !of_values.contains(var.get())) {
      // It belongs to a function type: its number means nothing.
      check.binds.push_back(true);
      vars.push_back(registers_.take());
      temporaries_.push_back({vars.back(), Hold::Plain});
      return;
    }
    if (bind) {
      if (!binds || !standing_alone.contains(var.get()))
        fail(ErrorCode::Internal, "code generation: shape variable {} is checked where it is not bound", var->name);
      found = dims_.emplace(var.get(), registers_.take()).first;
    }
    check.binds.push_back(bind);
    vars.push_back(found->second);
  });
  function_.checks.push_back(std::move(check));
  return static_cast<uint32_t>(function_.checks.size() - 1);
}

void FunctionEmitter::check_value(Register reg, const StructInfo& info, bool binds) {
  // A variable that is out of scope here cannot be compared with.
  const StructInfo known =
      binds ? info : erase_vars(info, [&](const SymVar& var) { return dims_.contains(var.get()); });
  std::vector<Register> vars;
  const uint32_t index = check(known, binds, vars);
  code_.emit(Opcode::CheckValue, reg, index, vars);
}

Place FunctionEmitter::allocate(const StructInfo& info, bool escapes) {
  if (info->kind != InfoKind::Tensor || !info->dims || info->dtype == DType::None)
    fail(ErrorCode::TypeError, "a kernel's result needs a known dtype and known dimensions, not {}", to_text(info));
  const Register reg = registers_.take();
  if (info->dims->empty()) {
    code_.emit(Opcode::NewScalar, reg, info->dtype);
    return {reg, Hold::Plain};
  }
  if (!planned(*info->dims)) {
    const auto regs = dims(*info->dims);
    code_.emit(Opcode::NewTensorDyn, reg, info->dtype, regs);
    return {reg, Hold::Counted};
  }
  if (escapes) {
    code_.emit(Opcode::NewTensor, reg, storage(info->dtype, *info->dims));
    return {reg, Hold::Counted};
  }
  code_.emit(Opcode::AllocTensor, reg, storage(info->dtype, *info->dims));
  return {reg, Hold::Arena};
}

Place FunctionEmitter::call_kernel(KernelCall kernel, std::span<const Expr> inputs, std::span<const StructInfo> outputs,
                                   const Var* bound, std::optional<Register> dest) {
  std::vector<Register> operands;
  for (const auto& input : inputs) operands.push_back(read(input));
  const bool escapes = outputs.size() != 1 || bound == nullptr || escaping_.contains(bound);
  std::vector<Place> results;
  for (const auto& output : outputs) {
    results.push_back(allocate(output, escapes));
    operands.push_back(results.back().reg);
  }
  kernel.inputs = static_cast<uint16_t>(inputs.size());
  kernel.outputs = static_cast<uint16_t>(outputs.size());
  code_.emit(Opcode::CallKernel, tables_->kernel(std::move(kernel)), operands);
  if (results.size() == 1 && !dest) return results[0];
  if (results.size() == 1) {
    code_.emit(Opcode::Move, *dest, results[0].reg);
    registers_.release(results[0].reg);
    return {*dest, results[0].hold};
  }
  std::vector<Register> fields;
  for (const Place& result : results) fields.push_back(result.reg);
  const Register reg = target(dest);
  code_.emit(Opcode::MakeTuple, reg, fields);
  for (const Register field : fields) registers_.release(field);
  return {reg, Hold::Counted};
}

// Arguments: the PrimFunc, a tuple of its input tensors (or one tensor) and, where it has scalar parameters, a shape of
// their values.
Place FunctionEmitter::call_tir(const Call& e, const Var* bound, std::optional<Register> dest) {
  const auto* global = as<GlobalVar>(e.args.at(0));
  const auto prim_func = global != nullptr ? tables_->prim_func(global->name) : nullptr;
  if (prim_func == nullptr)
    fail(ErrorCode::TypeError, "call_tir: the first argument must name a prim_func of the module");
  std::vector<Expr> inputs;
  if (const auto* tuple = as<Tuple>(e.args.at(1))) {
    inputs = tuple->fields;
  } else {
    inputs.push_back(e.args[1]);
  }
  if (e.args.size() > 2) {
    const auto* shape = as<Shape>(e.args[2]);
    if (shape == nullptr)
      fail(ErrorCode::TypeError, "call_tir: the values of scalar parameters must be written as shape(...)");
    for (const auto& value : shape->dims) {
      const Expr prim = std::make_shared<PrimValue>(value, e.span);
      prim->info = prim_info(DType::Int64, value);
      inputs.push_back(prim);
    }
  }
  KernelCall kernel;
  kernel.contract = Contract::prim_func;
  kernel.prim_func = prim_func;
  return call_kernel(std::move(kernel), inputs, e.info_args, bound, dest);
}

Place FunctionEmitter::view(const Call& e, std::optional<Register> dest) {
  const StructInfo& info = e.info_args.at(0);
  const auto* source = as<Var>(e.args.at(0));
  if (source != nullptr && place_of(source).hold == Hold::Arena && planned(*info->dims)) {
    const Register from = read(e.args[0]);
    const Register reg = target(dest);
    code_.emit(Opcode::AllocView, reg, from, storage(info->dtype, *info->dims));
    return {reg, Hold::Arena};
  }
  const Register from = read_outside_arena(e.args[0]);
  const auto regs = dims(*info->dims);
  const Register reg = target(dest);
  code_.emit(Opcode::NewView, reg, from, regs);
  return {reg, Hold::Counted};
}

}  // namespace ingot::codegen
