#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"

// The instruction set as data: see opcodes.def for the roles and the encoding.
namespace ingot::vm {

enum class Role : uint8_t {
  None,
  Def,
  Use,
  Take,
  Base,
  Const,
  Func,
  Import,
  Kernel,
  Builtin,
  Storage,
  Check,
  Expr,
  DType,
  Imm,
  Target,
  Uses,
  Takes,
  Operands,
  Vars
};

// One name for each instruction; TYPED lines give Name followed by the dtype's name (AddInt32).
enum class Opcode : uint16_t;

using CodeUnit = uint16_t;
using Register = uint16_t;

inline constexpr size_t kMaxOperands = 4;

struct OpcodeInfo {
  std::string_view mnemonic;  // with the dtype's suffix
  std::array<Role, kMaxOperands> roles;
  std::string_view meaning;
  ingot::DType dtype = ingot::DType::None;  // of TYPED lines
};

// How many opcodes there are; encodings above are invalid.
size_t opcode_count();
const OpcodeInfo& opcode_info(Opcode opcode);

constexpr bool is_list(Role role) { return role >= Role::Uses; }
// Units of an operand: 1 or 2; for lists the count unit alone.
constexpr size_t role_units(Role role) {
  return role == Role::Const || role == Role::Func || role == Role::Import || role == Role::Kernel ||
                 role == Role::Storage || role == Role::Check || role == Role::Expr || role == Role::Imm ||
                 role == Role::Target
             ? 2
             : 1;
}

}  // namespace ingot::vm
