#include "vm/isa/isa.h"

#include <gtest/gtest.h>

#include "vm/isa/builtins.h"

namespace ingot::vm {
namespace {

TEST(Isa, TableAndEnumAgree) {
  EXPECT_EQ(opcode_info(Opcode::Move).mnemonic, "move");
  EXPECT_EQ(opcode_info(Opcode::AddInt32).mnemonic, "add.i32");
  EXPECT_EQ(opcode_info(Opcode::AddInt32).dtype, DType::Int32);
  EXPECT_EQ(opcode_info(Opcode::LessBFloat16).mnemonic, "less.bf16");
  EXPECT_EQ(opcode_info(Opcode::LessBFloat16).form, OpcodeForm::Compare);
  EXPECT_EQ(opcode_info(Opcode::EqualBool).mnemonic, "equal.bool");
  EXPECT_EQ(opcode_info(Opcode::Select).mnemonic, "select");
  EXPECT_EQ(opcode_info(Opcode::Select).operands, 4);
  EXPECT_EQ(static_cast<size_t>(Opcode::Append) + 1, opcode_count());
}

TEST(Isa, FindsOpcodes) {
  for (size_t i = 0; i < opcode_count(); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const OpcodeInfo& info = opcode_info(opcode);
    EXPECT_EQ(find_opcode(info.mnemonic), opcode) << info.mnemonic;
    EXPECT_EQ(find_opcode(info.line, info.dtype), opcode) << info.mnemonic;
    EXPECT_FALSE(info.meaning.empty());
  }
  EXPECT_EQ(find_opcode("add"), std::nullopt);
  EXPECT_EQ(find_opcode("add.bool"), std::nullopt);
  EXPECT_EQ(find_opcode(OpcodeLine::BitAnd, DType::Float32), std::nullopt);
  EXPECT_EQ(find_opcode(OpcodeLine::Add, DType::Float64), Opcode::AddFloat64);
}

TEST(Isa, KnowsSizes) {
  EXPECT_EQ(fixed_units(opcode_info(Opcode::Return)), 2u);
  EXPECT_EQ(fixed_units(opcode_info(Opcode::LoadConst)), 4u);
  EXPECT_EQ(operand_offset(opcode_info(Opcode::LoadInt), 2), 3u);
  EXPECT_TRUE(has_list(opcode_info(Opcode::CallKernel)));
  EXPECT_FALSE(has_list(opcode_info(Opcode::Loop)));
}

TEST(Builtins, AreFoundByName) {
  for (size_t i = 0; i < kBuiltinCount; ++i) {
    EXPECT_EQ(find_builtin(kBuiltins[i].name), static_cast<Builtin>(i));
    EXPECT_LE(kBuiltins[i].min_args, kBuiltins[i].max_args);
  }
  EXPECT_EQ(find_builtin("no_such_builtin"), std::nullopt);
}

}  // namespace
}  // namespace ingot::vm
