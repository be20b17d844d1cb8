#include "vm/isa/encode.h"

#include "runtime/base/error.h"

namespace ingot::vm {
namespace {

// What a number may be in an operand of this role.
bool fits(Role role, int64_t value) {
  if (role == Role::Imm) return value >= INT32_MIN && value <= INT32_MAX;
  if (role == Role::DType) return value >= 0 && value < static_cast<int64_t>(kDTypeCount);
  if (is_register(role)) return value >= 0 && value < kMaxRegisters;
  return value >= 0 && value <= (role_units(role) == 1 ? int64_t{UINT16_MAX} : int64_t{UINT32_MAX});
}

}  // namespace

uint32_t CodeBuilder::emit_args(Opcode opcode, std::span<const Arg> args) {
  const OpcodeInfo& info = opcode_info(opcode);
  if (args.size() != info.operands)
    fail(ErrorCode::Internal, "{} takes {} operands, not {}", info.mnemonic, info.operands, args.size());
  if (code_.size() > kMaxCodeUnits - 0x20000)
    fail(ErrorCode::ResourceExhausted, "a function may have {} units of code", kMaxCodeUnits);
  const uint32_t at = here();
  code_.push_back(static_cast<CodeUnit>(opcode));
  for (size_t i = 0; i < args.size(); ++i) {
    const Arg& arg = args[i];
    const Role role = info.roles[i];
    const Arg::What wanted =
        is_list(role) ? Arg::What::List : (role == Role::Target ? Arg::What::Label : Arg::What::Number);
    if (arg.what_ != wanted || (wanted == Arg::What::Number && !fits(role, arg.number_)))
      fail(ErrorCode::Internal, "{}: operand {} is no {}", info.mnemonic, i, role_name(role));
    if (wanted == Arg::What::List) {
      put_list(arg.list_, info);
    } else if (wanted == Arg::What::Label) {
      fixups_.push_back({at, here(), static_cast<uint32_t>(arg.number_)});
      put_u32(0);
    } else if (role_units(role) == 1) {
      code_.push_back(static_cast<CodeUnit>(arg.number_));
    } else {
      put_u32(static_cast<uint32_t>(arg.number_));
    }
  }
  return at;
}

Label CodeBuilder::new_label() {
  labels_.push_back(-1);
  return {static_cast<uint32_t>(labels_.size() - 1)};
}

void CodeBuilder::bind(Label label) {
  if (labels_.at(label.id) >= 0) fail(ErrorCode::Internal, "label {} is bound twice", label.id);
  labels_[label.id] = here();
}

Label CodeBuilder::loop() {
  const Label label = new_label();
  bind(label);
  emit(Opcode::Loop);
  return label;
}

uint32_t CodeBuilder::unit(Label label) const {
  if (labels_.at(label.id) < 0) fail(ErrorCode::Internal, "label {} is not bound", label.id);
  return static_cast<uint32_t>(labels_[label.id]);
}

std::vector<CodeUnit> CodeBuilder::finish() {
  for (const Fixup& fixup : fixups_) {
    const auto distance = static_cast<uint32_t>(int64_t{unit({fixup.label})} - int64_t{fixup.instruction});
    code_[fixup.operand] = static_cast<CodeUnit>(distance);
    code_[fixup.operand + 1] = static_cast<CodeUnit>(distance >> 16);
  }
  fixups_.clear();
  labels_.clear();
  return std::exchange(code_, {});
}

void CodeBuilder::put_u32(uint32_t value) {
  code_.push_back(static_cast<CodeUnit>(value));
  code_.push_back(static_cast<CodeUnit>(value >> 16));
}

void CodeBuilder::put_list(std::span<const Register> list, const OpcodeInfo& info) {
  if (list.size() > UINT16_MAX)
    fail(ErrorCode::ResourceExhausted, "{}: a list may have {} registers, not {}", info.mnemonic, UINT16_MAX,
         list.size());
  code_.push_back(static_cast<CodeUnit>(list.size()));
  for (const Register reg : list)
    if (reg >= kMaxRegisters) fail(ErrorCode::Internal, "{}: register {} does not exist", info.mnemonic, reg);
  code_.insert(code_.end(), list.begin(), list.end());
}

}  // namespace ingot::vm
