#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"
#include "vm/isa/builtins.h"
#include "vm/verifier/function_verifier.h"

namespace ingot::vm {

using Flags = RegisterState::Flag;

namespace {

bool is_scalar_dtype(DType dtype) { return dtype != DType::None && dtype != DType::String; }

void check_scalar_dtype(DType dtype) {
  if (!is_scalar_dtype(dtype)) fail(ErrorCode::CorruptFile, "there are no scalars of dtype {}", dtype_name(dtype));
}

DType dtype_of(const Operand& operand) { return static_cast<DType>(operand.value); }

}  // namespace

// Registers that are read hold scalars of the line's dtype, and the one that is written gets one (or a bool).
void FunctionVerifier::typed(const Instruction& i) {
  for (const Operand& operand : i.operands())
    if (operand.role == Role::Use) use(operand.reg(), Kind::Scalar, i.info->dtype);
  const DType result = i.info->form == OpcodeForm::Compare ? DType::Bool : i.info->dtype;
  for (const Operand& operand : i.operands()) {
    if (operand.role == Role::Def) define(operand.reg(), immediate_state(Kind::Scalar, result));
    if (operand.role == Role::Target) jump(i, operand);
  }
}

void FunctionVerifier::plain(const Instruction& i) {
  switch (i.info->line) {
    case OpcodeLine::Jump:
      jump(i, i[0]);
      reachable_ = false;
      return;
    case OpcodeLine::JumpIf:
    case OpcodeLine::JumpUnless:
      use(i[0].reg(), Kind::Scalar, DType::Bool);
      return jump(i, i[1]);
    case OpcodeLine::Loop:
      return loop_header(i.at);
    case OpcodeLine::Return:
      return return_value(i[0].reg());
    case OpcodeLine::Fail:
      if (i[0].value < 0 || i[0].value > static_cast<int64_t>(ErrorCode::Internal))
        fail(ErrorCode::CorruptFile, "error code {} does not exist", i[0].value);
      if (error_blame(static_cast<ErrorCode>(i[0].value)) == Blame::Ours)
        fail(ErrorCode::CorruptFile, "programs do not raise {}", error_name(static_cast<ErrorCode>(i[0].value)));
      if (program_.constants[i[1].index()].kind != Kind::String)
        fail(ErrorCode::CorruptFile, "constant {} is no string", i[1].index());
      reachable_ = false;
      return;
    case OpcodeLine::Call:
      return call(i);
    case OpcodeLine::TailCall:
      return tail_call(i);
    case OpcodeLine::CallValue:
      return call_value(i);
    case OpcodeLine::TailCallValue:
      return tail_call_value(i);
    case OpcodeLine::CallPacked:
      return call_packed(i);
    case OpcodeLine::CallKernel:
      return call_kernel(i);
    case OpcodeLine::CheckParams:
    case OpcodeLine::Plan:
    case OpcodeLine::AllocTensor:
    case OpcodeLine::AllocView:
    case OpcodeLine::NewTensor:
    case OpcodeLine::NewTensorDyn:
    case OpcodeLine::NewView:
    case OpcodeLine::NewScalar:
      return memory(i);
    default:
      return values(i);
  }
}

// Instructions that move, make and look at single values.
void FunctionVerifier::values(const Instruction& i) {
  const Register reg = i.info->operands == 0 ? Register{0} : i[0].reg();
  switch (i.info->line) {
    case OpcodeLine::Move:
      return define(reg, take(i[1].reg()));
    case OpcodeLine::Copy: {
      RegisterState state = use(i[1].reg());
      if (state.has(Flags::Arena))
        fail(ErrorCode::CorruptFile, "r{} may lie in an arena: it can be aliased and owned, not copied", i[1].reg());
      seen_by_others(i[1].reg());
      if (state.has(Flags::Borrowed)) state.flags = Flags::Counted;
      state.flags &= static_cast<uint8_t>(~Flags::Writable);
      state.root = kNoRegister;
      return define(reg, state);
    }
    case OpcodeLine::Alias:
      return alias(reg, i[1].reg());
    case OpcodeLine::Own:
      return own(reg, i[1].reg());
    case OpcodeLine::Kill:
      if (registers_[reg].empty()) fail(ErrorCode::CorruptFile, "r{} is empty", reg);
      return registers_.clear(reg);
    case OpcodeLine::LoadConst:
      return load_const(reg, i[1].index());
    case OpcodeLine::LoadInt:
      check_scalar_dtype(dtype_of(i[1]));
      if (dtype_of(i[1]) == DType::Bool && (i[2].value < 0 || i[2].value > 1))
        fail(ErrorCode::CorruptFile, "a bool is 0 or 1, not {}", i[2].value);
      return define(reg, immediate_state(Kind::Scalar, dtype_of(i[1])));
    case OpcodeLine::LoadDim:
      return define(reg, immediate_state(Kind::Prim, DType::Int64));
    case OpcodeLine::LoadImport:
      return define(reg, counted_state(ValueClass::of(Kind::PackedFunc)));
    case OpcodeLine::LoadNone:
      return define(reg, immediate_state(Kind::None));
    case OpcodeLine::CallBuiltin: {
      const BuiltinInfo& builtin = kBuiltins[i[1].index()];
      const size_t given = i[2].list.size();
      if (given < builtin.min_args || given > builtin.max_args)
        fail(ErrorCode::CorruptFile, "{} takes {} to {} arguments, not {}", builtin.name, builtin.min_args,
             builtin.max_args, given);
      for (const Register arg : i[2].list) {
        use(arg);
        seen_by_others(arg);
      }
      return define(reg, counted_state({}));
    }
    case OpcodeLine::MakeTuple:
      for (const Register field : i[1].list) take_owned(field, "a tuple");
      return define(reg, counted_state(ValueClass::of(Kind::Tuple)));
    case OpcodeLine::Append:
      for (const size_t operand : {1, 2}) take_owned(i[operand].reg(), "a tuple");
      return define(reg, counted_state(ValueClass::of(Kind::Tuple)));
    case OpcodeLine::GetField:
      use(i[1].reg(), Kind::Tuple);
      if (i[2].value < 0) fail(ErrorCode::CorruptFile, "there is no field {}", i[2].value);
      return define(reg, counted_state({}));
    case OpcodeLine::GetScalar:
      use(i[1].reg(), Kind::Tuple);
      if (i[2].value < 0) fail(ErrorCode::CorruptFile, "there is no field {}", i[2].value);
      check_scalar_dtype(dtype_of(i[3]));
      return define(reg, immediate_state(Kind::Scalar, dtype_of(i[3])));
    case OpcodeLine::MakeClosure: {
      const Function& callee = program_.functions[i[1].index()];
      if (i[2].list.size() != callee.captures)
        fail(ErrorCode::CorruptFile, "'{}' captures {} values, not {}", callee.name, callee.captures, i[2].list.size());
      for (const Register capture : i[2].list) take_owned(capture, "a closure");
      return define(reg, counted_state(ValueClass::of(Kind::Closure)));
    }
    case OpcodeLine::MakeShape:
      use_dims(i[1].list);
      if (i[1].list.size() > kMaxRank)
        fail(ErrorCode::CorruptFile, "a shape has at most {} dimensions, not {}", kMaxRank, i[1].list.size());
      return define(reg, counted_state(ValueClass::of(Kind::Shape)));
    case OpcodeLine::GetDim: {
      const RegisterState& of = use(i[1].reg());
      const ValueClass wanted{static_cast<uint16_t>(ValueClass::bit(Kind::Shape) | ValueClass::bit(Kind::Tensor) |
                                                    ValueClass::bit(Kind::Scalar)),
                              DType::None};
      if (!of.value.within(wanted))
        fail(ErrorCode::CorruptFile, "r{} holds {}, not {}", i[1].reg(), to_text(of.value), to_text(wanted));
      if (i[2].value < 0) fail(ErrorCode::CorruptFile, "there is no dimension {}", i[2].value);
      return define(reg, immediate_state(Kind::Prim, DType::Int64));
    }
    case OpcodeLine::EvalDim: {
      const size_t vars = expr_vars_[i[1].index()];
      if (vars != i[2].list.size())
        fail(ErrorCode::CorruptFile, "expression {} has {} variables, not {}", i[1].index(), vars, i[2].list.size());
      use_dims(i[2].list);
      return define(reg, immediate_state(Kind::Prim, DType::Int64));
    }
    case OpcodeLine::PrimToScalar: {
      const DType dtype = use(i[1].reg(), Kind::Prim).value.dtype;
      check_scalar_dtype(dtype);
      return define(reg, immediate_state(Kind::Scalar, dtype));
    }
    case OpcodeLine::ScalarToPrim: {
      const DType dtype = use(i[1].reg(), Kind::Scalar).value.dtype;
      check_scalar_dtype(dtype);
      const DType prim = dtype == DType::Bool ? dtype : (is_float(dtype) ? DType::Float64 : DType::Int64);
      return define(reg, immediate_state(Kind::Prim, prim));
    }
    case OpcodeLine::CheckValue: {
      const RegisterState& state = use(reg);
      const Check& table = function_.checks[i[1].index()];
      const StructInfo& info = table.info;
      const bool is_unknown = state.origin == Origin{};
      check(i, i[1].index(), i[2].list);
      refine(reg, info);
      if (is_unknown && registers_[reg].value.is(Kind::Tensor) && info->kind == InfoKind::Tensor && info->dims &&
          agrees_with_plan(table)) {
        RegisterState checked = registers_[reg];
        checked.origin = {Origin::From::Check, i[1].index()};
        registers_.set(reg, checked);
      }
      return;
    }
    case OpcodeLine::Not:
    case OpcodeLine::And:
    case OpcodeLine::Or:
      for (const Operand& operand : i.operands().subspan(1)) use(operand.reg(), Kind::Scalar, DType::Bool);
      return define(reg, immediate_state(Kind::Scalar, DType::Bool));
    case OpcodeLine::Cast:
      check_scalar_dtype(use(i[1].reg(), Kind::Scalar).value.dtype);
      check_scalar_dtype(dtype_of(i[2]));
      return define(reg, immediate_state(Kind::Scalar, dtype_of(i[2])));
    case OpcodeLine::Select: {
      use(i[1].reg(), Kind::Scalar, DType::Bool);
      const DType dtype = use(i[2].reg(), Kind::Scalar).value.dtype;
      check_scalar_dtype(dtype);
      use(i[3].reg(), Kind::Scalar, dtype);
      return define(reg, immediate_state(Kind::Scalar, dtype));
    }
    default:
      return any_values(i);
  }
}

// An instruction without a rule of its own: it looks at kinds itself, as builtins do.
void FunctionVerifier::any_values(const Instruction& i) {
  for (const Operand& operand : i.operands()) {
    if (operand.role == Role::Base || operand.role == Role::Operands)
      fail(ErrorCode::Internal, "the verifier has no rule for {}", i.info->mnemonic);
    if (operand.role == Role::Use) {
      use(operand.reg());
      seen_by_others(operand.reg());
    }
    for (const Register reg : is_list(operand.role) ? operand.list : std::span<const Register>{}) {
      if (operand.role == Role::Takes) {
        take_owned(reg, i.info->mnemonic);
      } else {
        use(reg);
        seen_by_others(reg);
      }
    }
    if (operand.role == Role::Take) take_owned(operand.reg(), i.info->mnemonic);
  }
  for (const Operand& operand : i.operands()) {
    if (operand.role == Role::Def) define(operand.reg(), counted_state({}));
    if (operand.role == Role::Vars) use_dims(operand.list);
    if (operand.role == Role::Target) jump(i, operand);
  }
}

void FunctionVerifier::load_const(Register reg, uint32_t constant) {
  const Constant& value = program_.constants[constant];
  RegisterState state = immediate_state(value.kind, value.kind == Kind::DType ? DType::None : value.dtype);
  if (value.kind == Kind::Tensor) state.origin = {Origin::From::Constant, constant};
  define(reg, state);
}

void FunctionVerifier::alias(Register to, Register from) {
  RegisterState state = use(from);
  seen_by_others(from);
  if (state.has(Flags::Counted)) {
    state.root = from;
    state.root_stamp = state.stamp;
  }
  state.flags &= static_cast<uint8_t>(~(Flags::Counted | Flags::Writable));
  state.flags |= Flags::Borrowed;
  define(to, state);
}

void FunctionVerifier::own(Register to, Register from) {
  RegisterState state = take(from);
  if (state.has(Flags::Borrowed | Flags::Arena)) {
    if (state.origin.from == Origin::From::Site) state.origin = {};
    state.flags = Flags::Counted;
  }
  state.root = kNoRegister;
  state.range = kNoSite;
  define(to, state);
}

// The variables of a check: those that it binds are written, the others read.
void FunctionVerifier::check(const Instruction& i, uint32_t check, std::span<const Register> vars) {
  const Check& table = function_.checks[check];
  if (vars.size() != table.binds.size())
    fail(ErrorCode::CorruptFile, "check {} has {} variables, not {}", check, table.binds.size(), vars.size());
  for (size_t k = 0; k < vars.size(); ++k)
    if (!table.binds[k]) use(vars[k], Kind::Prim, DType::Int64);
  check_stamps_.resize(vars.size());
  for (size_t k = 0; k < vars.size(); ++k) check_stamps_[k] = registers_[vars[k]].stamp;
  for (size_t k = 0; k < vars.size(); ++k) {
    if (!table.binds[k]) continue;
    const bool is_checked = i.opcode == Opcode::CheckValue ? vars[k] == i[0].reg() : vars[k] < function_.params;
    if (is_checked) fail(ErrorCode::CorruptFile, "r{} is checked and cannot take a variable", vars[k]);
    define(vars[k], immediate_state(Kind::Prim, DType::Int64));
    check_stamps_[k] = registers_[vars[k]].stamp;
  }
}

void FunctionVerifier::check_params(const Instruction& i) {
  const Check& table = function_.checks[i[0].index()];
  const size_t fields = table.info->fields.size();
  if (table.info->kind != InfoKind::Tuple ||
      (fields != function_.params && fields != size_t{function_.params} + function_.captures))
    fail(ErrorCode::CorruptFile, "check {} is no tuple of the {} parameters", i[0].index(), function_.params);
  const auto is_untouched = [&](size_t k) { return registers_[static_cast<Register>(k)].stamp == k + 1; };
  for (size_t k = 0; k < fields; ++k)
    if (!is_untouched(k)) fail(ErrorCode::CorruptFile, "r{} no longer holds its parameter", k);
  check(i, i[0].index(), i[1].list);
  size_t position = 0;
  for_each_var(table.info, [&](const SymVar& var) { param_stamps_[var.get()] = check_stamps_[position++]; });
  for (size_t k = 0; k < fields; ++k) {
    const auto reg = static_cast<Register>(k);
    if (!is_untouched(k)) fail(ErrorCode::CorruptFile, "r{} is checked and cannot take a variable", k);
    refine(reg, table.info->fields[k]);
    if (!registers_[reg].value.is(Kind::Tensor)) continue;
    RegisterState state = registers_[reg];
    state.origin = {Origin::From::Param, static_cast<uint32_t>(k)};
    registers_.set(reg, state);
  }
}

// What parameters were checked with is what plan takes: kernels rely on it that they have the planned dimensions.
void FunctionVerifier::plan(const Instruction& i) {
  const auto list = i[0].list;
  if (list.size() > function_.vars.size())
    fail(ErrorCode::CorruptFile, "there are {} variables, not {}", function_.vars.size(), list.size());
  use_dims(list);
  for (size_t k = 0; k < list.size(); ++k) {
    const uint32_t stamp = registers_[list[k]].stamp;
    const auto checked = param_stamps_.find(function_.vars[k].get());
    if (checked != param_stamps_.end() && checked->second != stamp)
      fail(ErrorCode::CorruptFile, "r{} is not what check_params took for {}", list[k], function_.vars[k]->name);
    plan_stamps_.emplace(function_.vars[k].get(), stamp);
  }
  facts_.entry_dims = static_cast<uint32_t>(list.size());
  registers_.planned = true;
}

// Did the last check compare entry dimensions with the numbers that plan took for them?
bool FunctionVerifier::agrees_with_plan(const Check& check) const {
  bool agrees = registers_.planned;
  size_t position = 0;
  for_each_var(check.info, [&](const SymVar& var) {
    const auto planned = plan_stamps_.find(var.get());
    const uint32_t stamp = check_stamps_[position++];
    agrees = agrees && (planned == plan_stamps_.end() || planned->second == stamp);
  });
  return agrees;
}

// Storages have their sizes from plan, and use what it was given.
void FunctionVerifier::check_storage(uint32_t storage) const {
  const Storage& size = function_.storages[storage];
  if (size.dims.empty() && size.dtype != DType::String) fail(ErrorCode::CorruptFile, "a tensor of rank 0 is a scalar");
  if (!registers_.planned) fail(ErrorCode::CorruptFile, "sizes were not planned on every path");
  if (storage_needs_[storage] > facts_.entry_dims)
    fail(ErrorCode::CorruptFile, "storage {} uses variables that plan did not take", storage);
}

void FunctionVerifier::allocate(const Instruction& i, Register reg, uint32_t storage, uint32_t base) {
  const Storage& size = function_.storages[storage];
  check_storage(storage);
  RegisterState state;
  state.value = ValueClass::of(Kind::Tensor, size.dtype);
  state.origin = {Origin::From::Site, ranges_.add(i.at)};
  facts_.sites.push_back({i.at, i.opcode, storage, base});
  if (i.opcode == Opcode::NewTensor) {
    state.flags = Flags::Counted | Flags::Writable;
  } else {
    if (size.dtype == DType::String) fail(ErrorCode::CorruptFile, "strings do not lie in arenas");
    state.flags = Flags::Borrowed | Flags::Arena | Flags::Writable;
    state.range = state.origin.index;
    if (base != kNoSite) ranges_.merge(state.range, base);
  }
  define(reg, state);
}

void FunctionVerifier::memory(const Instruction& i) {
  switch (i.info->line) {
    case OpcodeLine::CheckParams:
      return check_params(i);
    case OpcodeLine::Plan:
      return plan(i);
    case OpcodeLine::AllocTensor:
    case OpcodeLine::NewTensor:
      return allocate(i, i[0].reg(), i[1].index(), kNoSite);
    case OpcodeLine::AllocView: {
      const RegisterState& base = peek(i[1].reg());
      if (base.origin.from != Origin::From::Site || base.range == kNoSite || base.has(Flags::Counted))
        fail(ErrorCode::CorruptFile, "r{} is no tensor of one place in this function's arena", i[1].reg());
      if (base.value.dtype != function_.storages[i[2].index()].dtype)
        fail(ErrorCode::CorruptFile, "a view has the dtype of its base");
      return allocate(i, i[0].reg(), i[2].index(), base.origin.index);
    }
    case OpcodeLine::NewTensorDyn: {
      const DType dtype = dtype_of(i[1]);
      if (dtype == DType::None || (i[2].list.empty() && dtype != DType::String) || i[2].list.size() > kMaxRank)
        fail(ErrorCode::CorruptFile, "there are no tensors of dtype {} and rank {}", dtype_name(dtype),
             i[2].list.size());
      use_dims(i[2].list);
      RegisterState state = counted_state(ValueClass::of(Kind::Tensor, dtype));
      state.flags |= Flags::Writable;
      return define(i[0].reg(), state);
    }
    case OpcodeLine::NewView: {
      const RegisterState base = use(i[1].reg(), Kind::Tensor);
      if (base.has(Flags::Arena)) fail(ErrorCode::CorruptFile, "r{} may lie in an arena", i[1].reg());
      if (i[2].list.size() > kMaxRank || (i[2].list.empty() && base.value.dtype != DType::String))
        fail(ErrorCode::CorruptFile, "there are no tensors of dtype {} and rank {}", dtype_name(base.value.dtype),
             i[2].list.size());
      use_dims(i[2].list);
      seen_by_others(i[1].reg());
      return define(i[0].reg(), counted_state(base.value));
    }
    case OpcodeLine::NewScalar:
      check_scalar_dtype(dtype_of(i[1]));
      return define(i[0].reg(), immediate_state(Kind::Scalar, dtype_of(i[1])));
    default:
      fail(ErrorCode::Internal, "the verifier has no rule for {}", i.info->mnemonic);
  }
}

}  // namespace ingot::vm
