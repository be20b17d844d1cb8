#include "vm/executable/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "tests/vm/executable/programs.h"
#include "vm/executable/reader.h"
#include "vm/executable/writer.h"

namespace ingot::vm {
namespace {

using ::testing::HasSubstr;

TEST(ProgramText, RoundTripsByteForByte) {
  const Program program = assemble(test::kEverything);
  const std::vector<std::byte> file = write_program(program);
  const Program read = read_program(copy_bytes(file));
  const std::string text = disassemble(read);
  EXPECT_EQ(write_program(read), file);
  EXPECT_EQ(write_program(assemble(text)), file) << text;
  EXPECT_EQ(disassemble(assemble(text)), text);
}

TEST(ProgramText, IsWrittenAsRead) {
  const std::string text = R"(meta "producer" = "test"
import "my.func" writes [0, 2]
const c0 = tensor float32 (2,) {1, 2.5}
const c1 = scalar int32 -7
const c2 = tensor string (2,) {"a \"b\"", ""}
kernel k0 = matmul 2 -> 1 {alpha=0.5, transpose_b=1} [relu(0.0, 0.0), clip(-1.0, 6.0)]

func @main exported params 1 captures 0 registers 3 {
  vars n, "batch size", "n"~1
  signature fn(Tensor[(n, 4), float32]) -> Tensor[ndim=2, float32]
  names "x"
  storage s0 = float32 (n * 2 + 1, max("n"~1, 3))
  check t0 = (Tensor[(n, "batch size"), float32],) binds (1, 1)
  expr e0 = (n - (1 - n)) / 2
  source "main.relax"
  code
    check_params t0, [r1, r2]
    at 3:1
    less.i64 r1, r1, r2
  L10:
    loop [r0 any kept, r1 Scalar bool owned]
    jump_if r1, L10
    return r0
}
)";
  EXPECT_EQ(disassemble(assemble(text)), text);
}

TEST(ProgramText, ErrorsNamePlaces) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      assemble(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::ParseError);
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(message("func @f params 0 registers 1 {\n  code\n    frobnicate r0\n}"),
              HasSubstr("3:5: there is no instruction frobnicate"));
  EXPECT_THAT(message("func @f params 0 registers 1 {\n code\n return r65535\n}"), HasSubstr("3:9: r and a number"));
  EXPECT_THAT(message("func @f params 0 registers 1 {\n code\n jump L\n}"), HasSubstr("3:7: label L stands nowhere"));
  EXPECT_THAT(message("func @f params 0 registers 1 {\n code\n call r0, @g\n}"),
              HasSubstr("3:11: there is no function @g"));
  EXPECT_THAT(message("const c1 = none"), HasSubstr("1:7: 'c0' is expected here"));
  EXPECT_THAT(message("const c0 = scalar int8 300"), HasSubstr("1:24: "));
  EXPECT_THAT(message("func @f params 0 registers 1 {\n signature fn() -> Tensor[(n,), int32]\n"),
              HasSubstr("2:28: variable n is not declared"));
  EXPECT_THAT(message("func @f params 0 registers 1 { signature " + std::string(5000, '(')),
              HasSubstr("nests deeper than"));
  EXPECT_THAT(message("meta \"a"), HasSubstr("1:6: the string has no end"));
}

TEST(ProgramText, DisassemblerRejectsBrokenCode) {
  Program program = assemble("func @f params 0 registers 1 { signature fn() -> Object code load_none r0 return r0 }");
  EXPECT_THAT(disassemble(program, program.functions[0]), HasSubstr("    load_none r0\n    return r0\n"));
  program.functions[0].code = {60000};
  EXPECT_THROW(disassemble(program), Error);
  program.functions[0].code = {static_cast<CodeUnit>(Opcode::LoadConst), 0, 5, 0};
  EXPECT_THROW(disassemble(program), Error);
  program.functions[0].code = {static_cast<CodeUnit>(Opcode::Jump), 1, 0};
  EXPECT_THROW(disassemble(program), Error);
}

}  // namespace
}  // namespace ingot::vm
