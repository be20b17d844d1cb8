#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>

#include "runtime/base/error.h"
#include "vm/isa/isa.h"

// Reading code. One decoder, two policies: Checked for bytes that nobody has verified and for tools, Unchecked for the
// interpreter and for whatever walks a verified function.
namespace ingot::vm {

// A number in two units, low half first.
inline uint32_t read_u32(const CodeUnit* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
inline int32_t read_i32(const CodeUnit* at) { return static_cast<int32_t>(read_u32(at)); }

// Operands of one instruction whose opcode is known when compiling, read in place: `pc` points at the opcode.
//
//   using Add = OperandsOf<Opcode::AddInt32>;
//   registers[Add::reg<0>(pc)] = registers[Add::reg<1>(pc)] + registers[Add::reg<2>(pc)];
//   pc += Add::kFixedUnits;
template <Opcode opcode>
struct OperandsOf {
  static constexpr const OpcodeInfo& kInfo = kOpcodes[static_cast<size_t>(opcode)];
  // The whole instruction where it has no list.
  static constexpr size_t kFixedUnits = fixed_units(kInfo);

  // Def, Use, Take, Base, and one-unit numbers (Builtin, DType).
  template <size_t i>
  static Register reg(const CodeUnit* pc) {
    static_assert(role_units(kInfo.roles[i]) == 1 && !is_list(kInfo.roles[i]) && i < kInfo.operands);
    return pc[operand_offset(kInfo, i)];
  }
  // Positions in tables: Const, Func, Import, Kernel, Storage, Check, Expr.
  template <size_t i>
  static uint32_t index(const CodeUnit* pc) {
    static_assert(role_units(kInfo.roles[i]) == 2);
    return read_u32(pc + operand_offset(kInfo, i));
  }
  // Imm and Target.
  template <size_t i>
  static int32_t number(const CodeUnit* pc) {
    static_assert(kInfo.roles[i] == Role::Imm || kInfo.roles[i] == Role::Target);
    return read_i32(pc + operand_offset(kInfo, i));
  }
  static std::span<const Register> list(const CodeUnit* pc) {
    static_assert(has_list(kInfo));
    return {pc + kFixedUnits, pc[kFixedUnits - 1]};
  }
  static size_t units(const CodeUnit* pc) {
    if constexpr (has_list(kInfo)) return kFixedUnits + pc[kFixedUnits - 1];
    return kFixedUnits;
  }
};

struct Operand {
  Role role = Role::None;
  // The register, the position in a table, the dtype's number; Imm and Target: the int32, extended.
  int64_t value = 0;
  // Of a list.
  std::span<const Register> list;

  Register reg() const { return static_cast<Register>(value); }
  uint32_t index() const { return static_cast<uint32_t>(value); }
  int32_t number() const { return static_cast<int32_t>(value); }
};

// One decoded instruction; lists point into the code.
struct Instruction {
  Opcode opcode{};
  uint32_t at = 0;     // its first unit
  uint32_t units = 0;  // its size
  const OpcodeInfo* info = nullptr;
  std::array<Operand, kMaxOperands> operand_array;  // info->operands of them

  std::span<const Operand> operands() const { return {operand_array.data(), info->operands}; }
  const Operand& operator[](size_t i) const { return operand_array[i]; }
  uint32_t next() const { return at + units; }
  // Where a Target operand leads, in units from the start of the code; may lie outside of it.
  int64_t target(const Operand& operand) const { return int64_t{at} + operand.value; }
};

// Throws CorruptFile where an opcode does not exist or an instruction is cut off, naming the unit.
struct Checked {
  static void opcode(std::span<const CodeUnit> code, size_t at) {
    if (code[at] >= kOpcodeCount)
      fail(ErrorCode::CorruptFile, "unit {}: opcode {} does not exist, there are {}", at, code[at], kOpcodeCount);
  }
  static void units(std::span<const CodeUnit> code, size_t at, size_t wanted, const OpcodeInfo& info) {
    if (code.size() - at < wanted)
      fail(ErrorCode::CorruptFile, "unit {}: {} takes {} units, but the code ends at unit {}", at, info.mnemonic,
           wanted, code.size());
  }
};

// For code that the verifier has accepted.
struct Unchecked {
  static void opcode(std::span<const CodeUnit>, size_t) {}
  static void units(std::span<const CodeUnit>, size_t, size_t, const OpcodeInfo&) {}
};

// The instruction that begins at unit `at`, which is below code.size(); overwrites `instruction`.
template <typename Policy>
void decode(std::span<const CodeUnit> code, uint32_t at, Instruction& instruction) {
  Policy::opcode(code, at);
  const OpcodeInfo& info = kOpcodes[code[at]];
  instruction.opcode = static_cast<Opcode>(code[at]);
  instruction.at = at;
  instruction.info = &info;
  size_t units = fixed_units(info);
  Policy::units(code, at, units, info);
  const CodeUnit* unit = code.data() + at + 1;
  for (size_t i = 0; i < info.operands; ++i) {
    Operand& operand = instruction.operand_array[i];
    const Role role = info.roles[i];
    operand.role = role;
    if (role_units(role) == 1) {
      operand.value = *unit++;
      if (!is_list(role)) continue;
      units += static_cast<size_t>(operand.value);
      Policy::units(code, at, units, info);
      operand.list = {unit, static_cast<size_t>(operand.value)};
    } else {
      const bool is_signed = role == Role::Imm || role == Role::Target;
      operand.value = is_signed ? int64_t{read_i32(unit)} : int64_t{read_u32(unit)};
      unit += 2;
    }
  }
  instruction.units = static_cast<uint32_t>(units);
}

template <typename Policy>
Instruction decode(std::span<const CodeUnit> code, uint32_t at) {
  Instruction instruction;
  decode<Policy>(code, at, instruction);
  return instruction;
}

// All instructions of a function, in order: `for (const Instruction& i : Instructions<Checked>(code))`.
template <typename Policy>
class Instructions {
 public:
  explicit Instructions(std::span<const CodeUnit> code) : code_(code) {}

  class Iterator {
   public:
    using value_type = Instruction;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(std::span<const CodeUnit> code) : code_(code) { load(0); }
    const Instruction& operator*() const { return instruction_; }
    const Instruction* operator->() const { return &instruction_; }
    Iterator& operator++() {
      load(instruction_.next());
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.done_; }

   private:
    void load(uint32_t at) {
      done_ = at >= code_.size();
      if (!done_) decode<Policy>(code_, at, instruction_);
    }
    std::span<const CodeUnit> code_;
    Instruction instruction_;
    bool done_ = false;
  };

  Iterator begin() const { return Iterator(code_); }
  static std::default_sentinel_t end() { return {}; }

 private:
  std::span<const CodeUnit> code_;
};

}  // namespace ingot::vm
