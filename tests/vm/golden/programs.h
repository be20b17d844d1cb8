#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runtime/base/file.h"
#include "tests/vm/executable/programs.h"
#include "vm/executable/text.h"
#include "vm/isa/isa.h"

// The programs behind the stored executables of tests/golden, ten small ones that together use every instruction:
// tests/golden/*.asm, test::kEverything, and one that is made from the TYPED lines of opcodes.def.
namespace ingot::vm::test {

struct NamedProgram {
  std::string name;
  Program program;
};

// Does the line have instructions on floats only? Those get 0, whose functions are exact everywhere.
inline bool is_float_line(OpcodeLine line) {
  return find_opcode(line, DType::Float32).has_value() && !find_opcode(line, DType::Int32).has_value();
}

// One instruction on r0 = 7, r1 = 2, r2 = 0 (bools: 1, 1, 0), by its roles; a value that it makes goes to `result`.
inline std::string typed_instruction(const OpcodeInfo& info, size_t opcode, size_t result) {
  std::string operands;
  std::string behind;
  int uses = 0;
  for (size_t i = 0; i < info.operands; ++i) {
    std::string operand;
    if (info.roles[i] == Role::Def) operand = fmt::format("r{}", result);
    if (info.roles[i] == Role::Use) operand = fmt::format("r{}", is_float_line(info.line) ? 2 : uses++);
    if (info.roles[i] == Role::Imm) operand = "2";
    if (info.roles[i] == Role::Target) {
      operand = fmt::format("L{}", opcode);
      behind = fmt::format("  load_none r3\n  L{}:\n", opcode);
    }
    operands += (i == 0 ? " " : ", ") + operand;
  }
  return fmt::format("  {}{}\n{}", info.mnemonic, operands, behind);
}

// A function for each dtype that returns a tuple of the results of all its instructions, in order of opcodes.
inline std::string typed_function(DType dtype) {
  const int a = dtype == DType::Bool ? 1 : 7;
  const int b = dtype == DType::Bool ? 1 : 2;
  std::string code =
      fmt::format("  load_int r0, {0}, {1}\n  load_int r1, {0}, {2}\n  load_int r2, {0}, 0\n", dtype_name(dtype), a, b);
  std::string results;
  size_t reg = 4;
  for (size_t opcode = 0; opcode < kOpcodeCount; ++opcode) {
    const OpcodeInfo& info = kOpcodes[opcode];
    if (info.form == OpcodeForm::Plain || info.dtype != dtype) continue;
    code += typed_instruction(info, opcode, reg);
    if (std::ranges::find(info.roles, Role::Def) == info.roles.end()) continue;
    results += fmt::format("{}r{}", results.empty() ? "" : ", ", reg++);
  }
  return fmt::format(
      "func @{} exported params 0 registers {} {{\n  signature fn() -> Object\n  code\n{}  make_tuple r3, [{}]\n"
      "  return r3\n}}\n",
      dtype_name(dtype), reg, code, results);
}

inline std::string typed_text() {
  std::string text;
  for (size_t dtype = 0; dtype < kDTypeCount; ++dtype) {
    const bool is_used = std::ranges::any_of(kOpcodes, [&](const OpcodeInfo& info) {
      return info.form != OpcodeForm::Plain && info.dtype == static_cast<DType>(dtype);
    });
    if (is_used) text += typed_function(static_cast<DType>(dtype));
  }
  return text;
}

inline std::vector<NamedProgram> golden_programs() {
  std::vector<NamedProgram> all;
  all.push_back({"everything", assemble(kEverything)});
  all.push_back({"typed", assemble(typed_text())});
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden")) {
    if (entry.path().extension() != ".asm") continue;
    const FileBytes text = read_file(entry.path());
    all.push_back({entry.path().stem().string(),
                   assemble({reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()})});
  }
  std::ranges::sort(all, {}, &NamedProgram::name);
  return all;
}

}  // namespace ingot::vm::test
