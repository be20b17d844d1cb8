#include "runtime/base/error.h"
#include "vm/verifier/function_verifier.h"

namespace ingot::vm {

using Flags = RegisterState::Flag;

void FunctionVerifier::fail_use(Register reg) const {
  const RegisterState& state = registers_[reg];
  if (state.empty()) fail(ErrorCode::CorruptFile, "r{} is empty", reg);
  fail(ErrorCode::CorruptFile, "r{} is an alias of r{}, which has lost its value", reg, state.root);
}

void FunctionVerifier::fail_class(Register reg, ValueClass wanted) const {
  fail(ErrorCode::CorruptFile, "r{} holds {}, not {}", reg, to_text(registers_[reg].value), to_text(wanted));
}

RegisterState FunctionVerifier::take(Register reg) {
  const RegisterState state = use(reg);
  registers_.clear(reg);
  return state;
}

RegisterState FunctionVerifier::take_owned(Register reg, std::string_view where) {
  const RegisterState state = take(reg);
  if (state.has(Flags::Borrowed | Flags::Arena))
    fail(ErrorCode::CorruptFile, "r{} is borrowed and must not get into {}", reg, where);
  return state;
}

void FunctionVerifier::define(Register reg, RegisterState state) {
  if (registers_[reg].has(Flags::Counted)) fail(ErrorCode::CorruptFile, "r{} holds a value that was not released", reg);
  state = state.normalized();
  state.stamp = next_stamp();
  registers_.set(reg, state);
}

// From now on somebody else may hold the value of the register.
void FunctionVerifier::seen_by_others(Register reg) {
  RegisterState state = registers_[reg];
  if (!state.has(Flags::Counted) || !state.has(Flags::Writable)) return;
  state.flags &= static_cast<uint8_t>(~Flags::Writable);
  registers_.set(reg, state);
}

void FunctionVerifier::use_dims(std::span<const Register> regs) {
  for (const Register reg : regs) use(reg, Kind::Prim, DType::Int64);
}

// The register has passed a check against the StructInfo. Where it never can, what follows is not run.
void FunctionVerifier::refine(Register reg, const StructInfo& info) {
  RegisterState state = registers_[reg];
  const ValueClass checked = class_of(info);
  state.value.kinds &= checked.kinds;
  if (checked.dtype != DType::None) state.value.dtype = checked.dtype;
  if (state.value.kinds == 0) state.value = checked;
  registers_.set(reg, state.normalized());
}

}  // namespace ingot::vm
