#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vm/verifier/verify_text.h"

namespace ingot::vm {
namespace {

using test::verify_code;
using ::testing::HasSubstr;

// The program of `around`, its first function's code changed.
std::string verify_changed(std::string_view code, const std::function<void(Function&)>& change) {
  Program program = assemble(test::around(code, 0));
  change(program.functions[0]);
  try {
    verify(program);
    return "ok";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Control, EveryPathMustEnd) {
  EXPECT_EQ(verify_code("load_none r0", 0), "function 'test': a path runs over the end of the code at unit 2");
  EXPECT_EQ(verify_code("load_none r0 return r0 load_none r5", 0), "ok");
  EXPECT_EQ(verify_code("jump L load_none r1 L: fail 0, c1", 0), "ok");
  EXPECT_THAT(verify_code("fail 99, c1", 0), HasSubstr("error code 99 does not exist"));
  EXPECT_THAT(verify_code(fmt::format("fail {}, c1", static_cast<int>(ErrorCode::Internal)), 0),
              HasSubstr("programs do not raise Internal"));
  EXPECT_THAT(verify_code("fail 1, c0", 0), HasSubstr("constant 0 is no string"));
  EXPECT_THAT(verify_changed("fail 1, c1", [](Function& f) { f.code.clear(); }), HasSubstr("there is no code"));
}

TEST(Control, JumpsLeadToInstructions) {
  const auto aim = [](int16_t distance) {
    return [distance](Function& f) {
      f.code[1] = static_cast<CodeUnit>(distance);
      f.code[2] = static_cast<CodeUnit>(distance < 0 ? -1 : 0);
    };
  };
  const std::string_view code = "jump L L: load_none r0 return r0";
  EXPECT_EQ(verify_changed(code, aim(3)), "ok");
  EXPECT_THAT(verify_changed(code, aim(4)), HasSubstr("unit 0: the jump leads to unit 4, where no instruction begins"));
  EXPECT_THAT(verify_changed(code, aim(7)), HasSubstr("the jump leads to unit 7, the code has 7"));
  EXPECT_THAT(verify_changed(code, aim(-3)), HasSubstr("the jump leads to unit -3"));
  EXPECT_THAT(verify_changed(code, aim(0)), HasSubstr("leads back to unit 0, which is no loop header"));
}

TEST(Control, OperandsMustExist) {
  EXPECT_THAT(verify_code("load_none r10 return r10", 0),
              HasSubstr("r10 does not exist, the function has 10 registers"));
  EXPECT_THAT(verify_code("load_const r0, c9 return r0", 0), HasSubstr("constant 9 does not exist, there are 4"));
  EXPECT_THAT(verify_code("call_kernel k7, [] fail 1, c1", 0), HasSubstr("kernel call 7 does not exist, there are 2"));
  EXPECT_THAT(verify_code("alloc_tensor r0, s0 fail 1, c1", 0), HasSubstr("storage 0 does not exist, there are 0"));
  EXPECT_THAT(verify_code("check_value r0, t0, [] fail 1, c1", 1), HasSubstr("check 0 does not exist"));
  EXPECT_THAT(verify_code("eval_dim r0, e0, [] fail 1, c1", 0), HasSubstr("expression 0 does not exist"));
  EXPECT_THAT(verify_code("make_tuple r0, [r11] return r0", 0), HasSubstr("r11 does not exist"));
}

TEST(Control, LoopsKeepTheirState) {
  const auto loop = [](std::string_view header, std::string_view body) {
    return verify_code(fmt::format(R"(
      load_const r1, c2
      load_const r2, c3
      own r0, r0
    L:
      loop [{}]
      {}
      jump_if r2, L
      return r0)",
                                   header, body),
                       1);
  };
  EXPECT_EQ(loop("r0 any owned, r1 Scalar int32 uncounted, r2 Scalar bool uncounted", "add.i32 r1, r1, r1"), "ok");
  EXPECT_EQ(loop("r0 any kept, r1 Scalar int32 uncounted, r2 Scalar bool kept", "add.i32 r1, r1, r1"), "ok");
  EXPECT_THAT(loop("r0 any owned, r2 Scalar bool kept", "add.i32 r1, r1, r1"), HasSubstr("r1 is empty"));
  EXPECT_THAT(loop("r0 any owned, r1 Scalar int32 kept, r2 Scalar bool kept", "add.i32 r1, r1, r1"),
              HasSubstr("r1 was written in the loop, its header says that it is kept"));
  EXPECT_THAT(loop("r1 Scalar int32 uncounted, r2 Scalar bool uncounted", ""),
              HasSubstr("1 registers hold values that must be released, the loop header lists 0 of them"));
  EXPECT_THAT(loop("r0 any owned, r1 Scalar int64 uncounted, r2 Scalar bool uncounted", ""),
              HasSubstr("r1 holds Scalar int32, the loop header wants Scalar int64"));
  EXPECT_THAT(loop("r0 any uncounted, r2 Scalar bool uncounted", ""), HasSubstr("does not let pass"));
  EXPECT_THAT(loop("r0 any owned, r1 Scalar int32 uncounted, r2 Scalar bool uncounted", "kill r0"),
              HasSubstr("(jump_if): r0 is empty, the loop header wants any value"));
  EXPECT_THAT(
      loop("r0 any owned, r1 Scalar int32 uncounted, r2 Scalar bool uncounted", "load_import r3, \"host.read\""),
      HasSubstr("2 registers hold values that must be released, the loop header lists 1 of them"));
  EXPECT_THAT(loop("r0 any owned, r1 Scalar int32 uncounted, r2 Scalar bool uncounted, r2 any kept", ""),
              HasSubstr("r2 is listed behind r2"));
}

TEST(Control, LoopHeadersAreDeclared) {
  const std::string_view code = "L: loop [] jump L";
  EXPECT_EQ(verify_changed(code, [](Function&) {}), "ok");
  EXPECT_THAT(verify_changed(code, [](Function& f) { f.loops.clear(); }),
              HasSubstr("unit 0 (loop): the function's table has no loop header here"));
  EXPECT_THAT(verify_changed(code,
                             [](Function& f) {
                               f.loops.push_back({1, {}});
                             }),
              HasSubstr("there is no loop instruction at unit 1"));
  EXPECT_THAT(verify_code("jump M L: loop [] M: jump L", 0), HasSubstr("no path leads to the loop header at unit 3"));
  EXPECT_THAT(verify_code("load_const r0, c3 A: loop [r0 any kept] B: loop [r0 any kept] jump_if r0, A jump B", 0),
              HasSubstr("the loops at units 4 and 5 overlap"));
  EXPECT_EQ(verify_code("load_const r0, c3 A: loop [r0 Scalar bool kept] B: loop [r0 Scalar bool kept] jump_if r0, B "
                        "jump A",
                        0),
            "ok");
}

TEST(Control, LoopsDoNotNestWithoutLimit) {
  std::string code = "load_const r0, c3 ";
  for (int i = 0; i < 100; ++i) code += fmt::format("L{}: loop [r0 Scalar bool kept] ", i);
  for (int i = 99; i >= 0; --i) code += fmt::format("jump_if r0, L{} ", i);
  EXPECT_THAT(verify_code(code + "return r0", 0), HasSubstr("loops nest deeper than 64"));
}

// Many registers that meet at many jumps would take quadratic time.
TEST(Control, WorkIsBounded) {
  std::string code = "load_const r0, c3 ";
  for (int i = 1; i < 20000; ++i) code += fmt::format("load_none r{} ", i);
  for (int i = 0; i < 2000; ++i) code += fmt::format("jump_if r0, L{} load_none r0 load_const r0, c3 L{}: ", i, i);
  std::string text = test::around(code + "return r0", 0);
  text.replace(text.find("registers 10"), 12, "registers 20000");
  EXPECT_THAT(test::verify_text(text), HasSubstr("too many registers meet at too many jumps"));
}

// Functions with many registers and little code must not cost more than their code.
TEST(Control, RegistersCostNothing) {
  Program program = assemble(
      "func @f params 0 registers 65535 { signature fn() -> Object code load_none r65534 "
      "return r65534 }");
  program.functions.resize(20000, program.functions[0]);
  verify(program);
}

}  // namespace
}  // namespace ingot::vm
