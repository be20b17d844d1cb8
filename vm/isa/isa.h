#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

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

using CodeUnit = uint16_t;
using Register = uint16_t;

inline constexpr size_t kMaxOperands = 4;
inline constexpr uint32_t kMaxRegisters = 65535;
// Units of code of one function: distances and positions fit in an int32.
inline constexpr uint32_t kMaxCodeUnits = uint32_t{1} << 30;

// Calls X(dtype, suffix, C++ type of one element, ...) for each dtype of a group that TYPED lines name.
#define INGOT_TYPED_INTEGER(X, ...)       \
  X(Int8, "i8", int8_t, __VA_ARGS__)      \
  X(Int16, "i16", int16_t, __VA_ARGS__)   \
  X(Int32, "i32", int32_t, __VA_ARGS__)   \
  X(Int64, "i64", int64_t, __VA_ARGS__)   \
  X(UInt8, "u8", uint8_t, __VA_ARGS__)    \
  X(UInt16, "u16", uint16_t, __VA_ARGS__) \
  X(UInt32, "u32", uint32_t, __VA_ARGS__) X(UInt64, "u64", uint64_t, __VA_ARGS__)
#define INGOT_TYPED_FLOAT(X, ...)      \
  X(Float16, "f16", Half, __VA_ARGS__) \
  X(BFloat16, "bf16", BHalf, __VA_ARGS__) X(Float32, "f32", float, __VA_ARGS__) X(Float64, "f64", double, __VA_ARGS__)
#define INGOT_TYPED_NUMERIC(X, ...) INGOT_TYPED_INTEGER(X, __VA_ARGS__) INGOT_TYPED_FLOAT(X, __VA_ARGS__)
#define INGOT_TYPED_ALL(X, ...) X(Bool, "bool", bool, __VA_ARGS__) INGOT_TYPED_NUMERIC(X, __VA_ARGS__)

// One name for each instruction; TYPED lines give Name followed by the dtype's name (AddInt32).
enum class Opcode : uint16_t {
#define R(...) 0
#define EACH(dtype, suffix, type, Name) Name##dtype,
#define OP(Name, mnemonic, roles, meaning) Name,
#define TYPED(Name, mnemonic, dtypes, roles, meaning) INGOT_TYPED_##dtypes(EACH, Name)
#include "vm/isa/opcodes.def"
#undef EACH
};

// A line of the table: one OP, or all instructions of one TYPED. `Add` stands for AddInt8, AddInt16, ...
enum class OpcodeLine : uint16_t {
#define R(...) 0
#define OP(Name, mnemonic, roles, meaning) Name,
#define TYPED(Name, mnemonic, dtypes, roles, meaning) Name,
#include "vm/isa/opcodes.def"
};

enum class OpcodeForm : uint8_t { Plain, Typed, Compare };

struct OpcodeInfo {
  std::string_view mnemonic;  // with the dtype's suffix
  OpcodeLine line;
  OpcodeForm form;
  ingot::DType dtype;  // of TYPED and COMPARE lines; None otherwise
  std::array<Role, kMaxOperands> roles;
  uint8_t operands;  // how many of the roles are used
  uint8_t units;     // size without the registers of a list
  std::string_view meaning;
};

constexpr bool is_list(Role role) { return role >= Role::Uses; }
// A list, or a single register.
constexpr bool is_register(Role role) { return (role >= Role::Def && role <= Role::Base) || is_list(role); }
// Units of an operand: 1 or 2; for lists the count unit alone.
constexpr size_t role_units(Role role) {
  constexpr uint32_t kWide = 1u << static_cast<unsigned>(Role::Const) | 1u << static_cast<unsigned>(Role::Func) |
                             1u << static_cast<unsigned>(Role::Import) | 1u << static_cast<unsigned>(Role::Kernel) |
                             1u << static_cast<unsigned>(Role::Storage) | 1u << static_cast<unsigned>(Role::Check) |
                             1u << static_cast<unsigned>(Role::Expr) | 1u << static_cast<unsigned>(Role::Imm) |
                             1u << static_cast<unsigned>(Role::Target);
  return 1 + (kWide >> static_cast<unsigned>(role) & 1);
}
std::string_view role_name(Role role);  // "Def"

namespace detail {

template <typename... Roles>
constexpr std::array<Role, kMaxOperands> role_array(Roles... roles) {
  static_assert(sizeof...(roles) <= kMaxOperands);
  return {roles...};
}

constexpr OpcodeInfo make_info(std::string_view mnemonic, OpcodeLine line, OpcodeForm form, ingot::DType dtype,
                               std::array<Role, kMaxOperands> roles, std::string_view meaning) {
  uint8_t operands = 0;
  size_t units = 1;
  for (; operands < kMaxOperands && roles[operands] != Role::None; ++operands) units += role_units(roles[operands]);
  return {mnemonic, line, form, dtype, roles, operands, static_cast<uint8_t>(units), meaning};
}

constexpr auto make_opcode_table() {
  using enum Role;
  return std::to_array<OpcodeInfo>({
#define R(...) role_array(__VA_ARGS__)
#define OP(Name, mnemonic, roles, meaning) \
  make_info(mnemonic, OpcodeLine::Name, OpcodeForm::Plain, ingot::DType::None, roles, meaning),
#define EACH(dtype, suffix, type, Name, mnemonic, form, roles, meaning) \
  make_info(mnemonic "." suffix, OpcodeLine::Name, OpcodeForm::form, ingot::DType::dtype, roles, meaning),
#define TYPED(Name, mnemonic, dtypes, roles, meaning) INGOT_TYPED_##dtypes(EACH, Name, mnemonic, Typed, roles, meaning)
#define COMPARE(Name, mnemonic, dtypes, roles, meaning) \
  INGOT_TYPED_##dtypes(EACH, Name, mnemonic, Compare, roles, meaning)
#include "vm/isa/opcodes.def"
#undef EACH
  });
}

}  // namespace detail

inline constexpr auto kOpcodes = detail::make_opcode_table();
inline constexpr size_t kOpcodeCount = kOpcodes.size();

// How many opcodes there are; encodings above are invalid.
constexpr size_t opcode_count() { return kOpcodeCount; }
constexpr const OpcodeInfo& opcode_info(Opcode opcode) { return kOpcodes[static_cast<size_t>(opcode)]; }
// The instruction of a line for a dtype; nullopt where the line has none. Lines of form Plain are asked for with None.
std::optional<Opcode> find_opcode(OpcodeLine line, ingot::DType dtype);
// By its mnemonic, suffix included.
std::optional<Opcode> find_opcode(std::string_view mnemonic);

// Where operand `i` of an instruction begins, in units from the opcode.
constexpr size_t operand_offset(const OpcodeInfo& info, size_t i) {
  size_t offset = 1;
  for (size_t k = 0; k < i; ++k) offset += role_units(info.roles[k]);
  return offset;
}
// Size of an instruction in units, without the registers of its list.
constexpr size_t fixed_units(const OpcodeInfo& info) { return info.units; }
// The instruction ends with a list of registers, whose count stands in the last of the fixed units.
constexpr bool has_list(const OpcodeInfo& info) {
  return info.operands != 0 && is_list(info.roles[info.operands - size_t{1}]);
}

}  // namespace ingot::vm
