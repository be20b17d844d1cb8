#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vm/isa/decode.h"
#include "vm/isa/encode.h"

namespace ingot::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An instruction with random operands that fit its roles, as given to the builder.
struct RandomInstruction {
  Opcode opcode;
  std::vector<int64_t> numbers;
  std::vector<Register> list;
};

RandomInstruction random_instruction(Opcode opcode, std::mt19937& random) {
  RandomInstruction made{opcode, {}, {}};
  const auto below = [&](int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(random); };
  const OpcodeInfo& info = opcode_info(opcode);
  for (size_t i = 0; i < info.operands; ++i) {
    const Role role = info.roles[i];
    int64_t number = 0;
    if (is_list(role)) {
      made.list.resize(static_cast<size_t>(below(5)));
      for (Register& reg : made.list) reg = static_cast<Register>(below(kMaxRegisters));
      number = static_cast<int64_t>(made.list.size());
    } else if (role == Role::Imm) {
      number = below(int64_t{1} << 32) + INT32_MIN;
    } else if (role == Role::DType) {
      number = below(kDTypeCount);
    } else if (role_units(role) == 1) {
      number = below(kMaxRegisters);
    } else {
      number = below(int64_t{1} << 32);
    }
    made.numbers.push_back(number);
  }
  return made;
}

TEST(Code, DecodesWhatWasEncoded) {
  std::mt19937 random(1);
  CodeBuilder builder;
  std::vector<RandomInstruction> given;
  const Label start = builder.new_label();
  builder.bind(start);
  for (int round = 0; round < 20; ++round)
    for (size_t i = 0; i < opcode_count(); ++i) {
      given.push_back(random_instruction(static_cast<Opcode>(i), random));
      std::vector<CodeBuilder::Arg> args;
      const OpcodeInfo& info = opcode_info(given.back().opcode);
      for (size_t k = 0; k < info.operands; ++k) {
        if (is_list(info.roles[k]))
          args.emplace_back(given.back().list);
        else if (info.roles[k] == Role::Target)
          args.emplace_back(start);
        else
          args.emplace_back(given.back().numbers[k]);
      }
      builder.emit_args(given.back().opcode, args);
    }
  const std::vector<CodeUnit> code = builder.finish();

  size_t index = 0;
  for (const Instruction& instruction : Instructions<Checked>(code)) {
    ASSERT_LT(index, given.size());
    const RandomInstruction& expected = given[index++];
    ASSERT_EQ(instruction.opcode, expected.opcode);
    for (size_t k = 0; k < instruction.operands().size(); ++k) {
      const Operand& operand = instruction[k];
      if (is_list(operand.role))
        EXPECT_TRUE(std::ranges::equal(operand.list, expected.list));
      else if (operand.role == Role::Target)
        EXPECT_EQ(instruction.target(operand), 0);
      else
        EXPECT_EQ(operand.value, expected.numbers[k]) << instruction.info->mnemonic;
    }
    const Instruction again = decode<Unchecked>(code, instruction.at);
    EXPECT_EQ(again.units, instruction.units);
    for (size_t k = 0; k < again.operands().size(); ++k) EXPECT_EQ(again[k].value, instruction[k].value);
  }
  EXPECT_EQ(index, given.size());
}

TEST(Code, EveryCutIsFound) {
  std::mt19937 random(2);
  for (size_t i = 0; i < opcode_count(); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    CodeBuilder builder;
    std::vector<CodeBuilder::Arg> args;
    const RandomInstruction made = random_instruction(opcode, random);
    for (size_t k = 0; k < opcode_info(opcode).operands; ++k) {
      if (is_list(opcode_info(opcode).roles[k]))
        args.emplace_back(made.list);
      else if (opcode_info(opcode).roles[k] == Role::Target)
        args.emplace_back(builder.loop());
      else
        args.emplace_back(made.numbers[k]);
    }
    const uint32_t at = builder.emit_args(opcode, args);
    const std::vector<CodeUnit> code = builder.finish();
    EXPECT_EQ(decode<Checked>(code, at).next(), code.size());
    for (size_t size = at + 1; size < code.size(); ++size)
      EXPECT_THROW(decode<Checked>(std::span(code).first(size), at), Error) << opcode_info(opcode).mnemonic;
  }
}

TEST(Code, UnknownOpcodeNamesUnit) {
  const std::vector<CodeUnit> code = {static_cast<CodeUnit>(Opcode::Loop), 0xfff0};
  try {
    for (const Instruction& instruction : Instructions<Checked>(code)) (void)instruction;
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::CorruptFile);
    EXPECT_THAT(error.what(), HasSubstr("unit 1: opcode 65520 does not exist"));
  }
}

TEST(Code, StaticViewsReadTheSame) {
  CodeBuilder builder;
  builder.emit(Opcode::LoadInt, 3, DType::Int32, -7);
  builder.emit(Opcode::CallPacked, 4, 70000u, RegisterList{5, 6});
  const std::vector<CodeUnit> code = builder.finish();
  using Load = OperandsOf<Opcode::LoadInt>;
  EXPECT_EQ(Load::reg<0>(code.data()), 3);
  EXPECT_EQ(Load::reg<1>(code.data()), static_cast<Register>(DType::Int32));
  EXPECT_EQ(Load::number<2>(code.data()), -7);
  const CodeUnit* call = code.data() + Load::kFixedUnits;
  using Packed = OperandsOf<Opcode::CallPacked>;
  EXPECT_EQ(Packed::index<1>(call), 70000u);
  EXPECT_THAT(Packed::list(call), ElementsAre(5, 6));
  EXPECT_EQ(Packed::units(call), 7u);
}

TEST(Code, LabelsReachBothWays) {
  CodeBuilder builder;
  const Label end = builder.new_label();
  const Label head = builder.loop();
  const uint32_t forward = builder.emit(Opcode::JumpIf, 0, end);
  const uint32_t back = builder.emit(Opcode::Jump, head);
  builder.bind(end);
  const uint32_t last = builder.emit(Opcode::Return, 0);
  EXPECT_EQ(builder.unit(head), 0u);
  const std::vector<CodeUnit> code = builder.finish();
  const Instruction jump_if = decode<Checked>(code, forward);
  EXPECT_EQ(jump_if.target(jump_if[1]), last);
  const Instruction jump = decode<Checked>(code, back);
  EXPECT_EQ(jump.target(jump[0]), 0);
}

TEST(Code, BuilderRejectsWhatDoesNotFit) {
  CodeBuilder builder;
  EXPECT_THROW(builder.emit(Opcode::Move, 1), Error);
  EXPECT_THROW(builder.emit(Opcode::Move, 1, 65535), Error);
  EXPECT_THROW(builder.emit(Opcode::Jump, 4), Error);
  EXPECT_THROW(builder.emit(Opcode::LoadInt, 0, DType::Int32, int64_t{1} << 31), Error);
  EXPECT_THROW(builder.emit(Opcode::Move, 1, RegisterList{2}), Error);
  builder.emit(Opcode::Jump, builder.new_label());
  EXPECT_THROW(builder.finish(), Error);
}

}  // namespace
}  // namespace ingot::vm
