#include "vm/isa/isa.h"

#include <algorithm>

namespace ingot::vm {
namespace {

constexpr bool lists_stand_last() {
  for (const OpcodeInfo& info : kOpcodes)
    for (size_t i = 0; i + 1 < info.operands; ++i)
      if (is_list(info.roles[i])) return false;
  return true;
}

constexpr bool roles_have_no_gaps() {
  for (const OpcodeInfo& info : kOpcodes)
    for (size_t i = info.operands; i < kMaxOperands; ++i)
      if (info.roles[i] != Role::None) return false;
  return true;
}

constexpr bool typed_lines_keep_to_scalars() {
  for (const OpcodeInfo& info : kOpcodes)
    for (size_t i = 0; info.form != OpcodeForm::Plain && i < info.operands; ++i) {
      const Role role = info.roles[i];
      if (role != Role::Def && role != Role::Use && role != Role::Imm && role != Role::Target) return false;
    }
  return true;
}

// Positions of the table by mnemonic.
constexpr auto make_index() {
  std::array<uint16_t, kOpcodeCount> index{};
  for (size_t i = 0; i < kOpcodeCount; ++i) index[i] = static_cast<uint16_t>(i);
  std::ranges::sort(index, {}, [](uint16_t i) { return kOpcodes[i].mnemonic; });
  return index;
}
constexpr auto kIndex = make_index();

constexpr bool mnemonics_differ() {
  return std::ranges::adjacent_find(kIndex, {}, [](uint16_t i) { return kOpcodes[i].mnemonic; }) == kIndex.end();
}

static_assert(kOpcodeCount <= 0xffff, "an opcode is one unit");
static_assert(lists_stand_last(), "a list must be the last operand");
static_assert(roles_have_no_gaps(), "roles are listed without gaps");
static_assert(typed_lines_keep_to_scalars(), "TYPED lines read and write scalars, take immediates and jump");
static_assert(mnemonics_differ(), "two instructions have one mnemonic");

struct LineRange {
  uint16_t first;
  uint16_t count;
};
constexpr auto make_lines() {
  std::array<LineRange, static_cast<size_t>(kOpcodes.back().line) + 1> lines{};
  for (size_t i = 0; i < kOpcodeCount; ++i) {
    LineRange& line = lines[static_cast<size_t>(kOpcodes[i].line)];
    if (line.count++ == 0) line.first = static_cast<uint16_t>(i);
  }
  return lines;
}
constexpr auto kLines = make_lines();

}  // namespace

std::string_view role_name(Role role) {
  static constexpr std::string_view kNames[] = {"None",   "Def",    "Use",     "Take",    "Base",     "Const", "Func",
                                                "Import", "Kernel", "Builtin", "Storage", "Check",    "Expr",  "DType",
                                                "Imm",    "Target", "Uses",    "Takes",   "Operands", "Vars"};
  return kNames[static_cast<size_t>(role)];
}

std::optional<Opcode> find_opcode(OpcodeLine line, ingot::DType dtype) {
  const LineRange range = kLines[static_cast<size_t>(line)];
  for (size_t i = range.first; i < size_t{range.first} + range.count; ++i)
    if (kOpcodes[i].dtype == dtype) return static_cast<Opcode>(i);
  return std::nullopt;
}

std::optional<Opcode> find_opcode(std::string_view mnemonic) {
  const auto at = std::ranges::lower_bound(kIndex, mnemonic, {}, [](uint16_t i) { return kOpcodes[i].mnemonic; });
  if (at == kIndex.end() || kOpcodes[*at].mnemonic != mnemonic) return std::nullopt;
  return static_cast<Opcode>(*at);
}

}  // namespace ingot::vm
