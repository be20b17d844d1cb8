#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "vm/isa/isa.h"

namespace ingot::vm {

using RegisterList = std::initializer_list<Register>;

// A place in the code of one CodeBuilder, perhaps not known yet.
struct Label {
  uint32_t id;
};

// Writes the code of one function:
//
//   CodeBuilder code;
//   const Label otherwise = code.new_label();
//   code.emit(Opcode::JumpUnless, condition, otherwise);
//   code.emit(Opcode::MakeTuple, dst, RegisterList{a, b});
//   code.bind(otherwise);
//   std::vector<CodeUnit> units = code.finish();
//
// Operands come in the order of the table. Each is checked against its role: what does not fit is a bug of the caller
// and throws Internal; a function that grows beyond what the format can express throws ResourceExhausted.
class CodeBuilder {
 public:
  // One operand: a number (register, position in a table, dtype, Imm), a label for a Target, registers for a list.
  class Arg {
   public:
    template <typename T>
    requires std::integral<T> || std::same_as<T, ingot::DType> Arg(T value)  // NOLINT: operands are written plainly
        : what_(What::Number), number_(static_cast<int64_t>(value)) {}
    Arg(Label label) : what_(What::Label), number_(label.id) {}              // NOLINT
    Arg(std::span<const Register> list) : what_(What::List), list_(list) {}  // NOLINT
    Arg(const std::vector<Register>& list) : Arg(std::span(list)) {}         // NOLINT
    Arg(RegisterList list) : Arg(std::span(list.begin(), list.size())) {}    // NOLINT

   private:
    friend class CodeBuilder;
    enum class What : uint8_t { Number, Label, List };
    What what_;
    int64_t number_ = 0;
    std::span<const Register> list_;
  };

  // Gives the unit at which the instruction begins.
  template <typename... Args>
  uint32_t emit(Opcode opcode, Args&&... args) {
    return emit_args(opcode, std::initializer_list<Arg>{Arg(std::forward<Args>(args))...});
  }
  uint32_t emit_args(Opcode opcode, std::initializer_list<Arg> args) {
    return emit_args(opcode, std::span<const Arg>(args.begin(), args.size()));
  }
  uint32_t emit_args(Opcode opcode, std::span<const Arg> args);

  Label new_label();
  // The label stands for the next instruction; once per label.
  void bind(Label label);
  // A loop header here, and the label for jumps back to it. Its registers belong into Function::loops, at
  // `unit(label)`.
  Label loop();
  // Where a bound label stands.
  uint32_t unit(Label label) const;

  // The unit of the next instruction.
  uint32_t here() const { return static_cast<uint32_t>(code_.size()); }
  bool empty() const { return code_.empty(); }

  // Resolves all jumps and gives the code away. Internal where a used label was never bound.
  std::vector<CodeUnit> finish();

 private:
  struct Fixup {
    uint32_t instruction;  // unit
    uint32_t operand;      // unit
    uint32_t label;
  };
  void put_u32(uint32_t value);
  void put_list(std::span<const Register> list, const OpcodeInfo& info);

  std::vector<CodeUnit> code_;
  std::vector<int64_t> labels_;  // unit, or -1
  std::vector<Fixup> fixups_;
};

}  // namespace ingot::vm
