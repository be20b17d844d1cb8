// Every operand of every instruction, as opcodes.def lists them, is held against what it names; instructions are whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vm/golden/programs.h"
#include "vm/isa/decode.h"
#include "vm/verifier/verifier.h"

namespace ingot::vm {
namespace {

// Why the verifier refuses the program; empty where it does not.
std::string refusal(const Program& program) {
  try {
    verify(program);
    return "";
  } catch (const Error& error) {
    return error.code() == ErrorCode::CorruptFile ? error.what() : std::string("not CorruptFile: ") + error.what();
  }
}

std::string refusal_with(Program& program, Function& function, size_t at, std::initializer_list<CodeUnit> units) {
  const std::vector<CodeUnit> before = function.code;
  std::copy(units.begin(), units.end(), function.code.begin() + static_cast<ptrdiff_t>(at));
  std::string why = refusal(program);
  function.code = before;
  return why;
}

bool is_any_number(Role role) { return role == Role::Imm; }

TEST(Operands, OfEveryInstructionMustExist) {
  for (test::NamedProgram& golden : test::golden_programs()) {
    if (golden.name == "padding" || golden.name == "shufflenet_small") continue;  // nothing that others lack
    ASSERT_EQ(refusal(golden.program), "");
    for (Function& function : golden.program.functions) {
      std::vector<Instruction> all;
      const std::vector<CodeUnit> code = function.code;
      for (const Instruction& i : Instructions<Checked>(code)) all.push_back(i);
      for (const Instruction& i : all)
        for (size_t k = 0; k < i.info->operands; ++k) {
          const Role role = i.info->roles[k];
          const size_t at = i.at + operand_offset(*i.info, k);
          if (is_any_number(role)) continue;
          const std::string why = role_units(role) == 2
                                      ? refusal_with(golden.program, function, at, {0xffff, 0x7fff})
                                      : (is_list(role) && !i[k].list.empty()
                                             ? refusal_with(golden.program, function, at + i[k].list.size(), {0xffff})
                                             : refusal_with(golden.program, function, at, {0xffff}));
          EXPECT_THAT(why,
                      ::testing::AnyOf(::testing::HasSubstr("does not exist"), ::testing::HasSubstr("leads to unit"),
                                       ::testing::HasSubstr("but the code ends")))
              << golden.name << " @" << function.name << ", unit " << i.at << " " << i.info->mnemonic << ", operand "
              << k;
        }
    }
  }
}

TEST(Operands, InstructionsAreWhole) {
  for (test::NamedProgram& golden : test::golden_programs()) {
    if (golden.name != "everything" && golden.name != "typed") continue;
    for (Function& function : golden.program.functions) {
      const std::vector<CodeUnit> code = function.code;
      for (size_t units = 0; units < code.size(); ++units) {
        function.code.assign(code.begin(), code.begin() + static_cast<ptrdiff_t>(units));
        EXPECT_NE(refusal(golden.program), "") << golden.name << " @" << function.name << " cut at " << units;
      }
      function.code = code;
      for (const size_t opcode : {kOpcodeCount, size_t{0xffff}})
        EXPECT_THAT(refusal_with(golden.program, function, 0, {static_cast<CodeUnit>(opcode)}),
                    ::testing::HasSubstr("does not exist"));
    }
  }
}

}  // namespace
}  // namespace ingot::vm
