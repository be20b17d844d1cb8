#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vm/verifier/verify_text.h"

namespace ingot::vm {
namespace {

using test::verify_code;
using ::testing::HasSubstr;

TEST(Registers, ParametersMustBeReleased) {
  EXPECT_EQ(verify_code("kill r0 kill r1 load_none r2 return r2"), "ok");
  EXPECT_EQ(verify_code("kill r0 load_none r2 return r2"),
            "function 'test': unit 4 (return): r1 holds a value that was not released");
  EXPECT_EQ(verify_code("kill r1 own r0, r0 return r0"), "ok");
  EXPECT_THAT(verify_code("kill r1 return r0"), HasSubstr("r0 is borrowed and must not get into a result"));
}

TEST(Registers, ReadsNeedValues) {
  EXPECT_EQ(verify_code("copy r1, r0", 0), "function 'test': unit 0 (copy): r0 is empty");
  EXPECT_THAT(verify_code("kill r0 kill r0 fail 1, c1", 1), HasSubstr("unit 2 (kill): r0 is empty"));
  EXPECT_THAT(verify_code("move r1, r0 move r2, r0 fail 1, c1", 1), HasSubstr("unit 3 (move): r0 is empty"));
}

TEST(Registers, WritesMustNotLoseValues) {
  EXPECT_THAT(verify_code("load_none r0 return r0", 1),
              HasSubstr("(load_none): r0 holds a value that was not released"));
  EXPECT_EQ(verify_code("load_const r0, c0 load_none r0 return r0", 0), "ok");
  EXPECT_EQ(verify_code("load_const r0, c0 return r0", 0), "ok");
}

TEST(Registers, CopiesAreCounted) {
  EXPECT_EQ(verify_code("own r0, r0 copy r1, r0 kill r0 return r1", 1), "ok");
  EXPECT_THAT(verify_code("own r0, r0 copy r1, r0 return r1", 1), HasSubstr("r0 holds a value that was not released"));
  EXPECT_THAT(verify_code("copy r1, r0 kill r0 return r1", 1),
              HasSubstr("r0 may lie in an arena: it can be aliased and owned, not copied"));
}

TEST(Registers, AliasesEndWithTheirRoots) {
  EXPECT_EQ(verify_code("alias r1, r0 own r2, r1 kill r0 return r2", 1), "ok");
  EXPECT_EQ(verify_code("own r0, r0 alias r1, r0 kill r0 load_none r1 return r1", 1), "ok");
  EXPECT_THAT(verify_code("alias r1, r0 kill r0 own r2, r1 return r2", 1),
              HasSubstr("(own): r1 is an alias of r0, which has lost its value"));
  EXPECT_THAT(verify_code("alias r1, r0 alias r2, r1 kill r0 own r3, r2 return r3", 1),
              HasSubstr("r2 is an alias of r0, which has lost its value"));
  EXPECT_THAT(verify_code("alias r1, r0 move r3, r0 own r0, r3 own r2, r1 fail 1, c1", 1),
              HasSubstr("r1 is an alias of r0, which has lost its value"));
  EXPECT_EQ(verify_code("alias r1, r0 kill r0 kill r1 load_none r0 return r0", 1), "ok");
}

TEST(Registers, BorrowedValuesDoNotEscape) {
  EXPECT_THAT(verify_code("alias r1, r0 make_tuple r2, [r1] kill r0 return r2", 1),
              HasSubstr("r1 is borrowed and must not get into a tuple"));
  EXPECT_THAT(verify_code("make_tuple r2, [r0] return r2", 1), HasSubstr("must not get into a tuple"));
  EXPECT_THAT(verify_code("load_none r1 make_closure r2, @captor, [r0, r1] return r2", 1),
              HasSubstr("must not get into a closure"));
  EXPECT_THAT(verify_code("load_const r0, c0 alias r1, r0 return r1", 0), HasSubstr("must not get into a result"));
  EXPECT_EQ(verify_code("own r0, r0 load_int r1, int32, 1 make_tuple r2, [r0, r1] return r2", 1), "ok");
  EXPECT_THAT(verify_code("own r0, r0 make_tuple r2, [r0, r0] return r2", 1), HasSubstr("r0 is empty"));
}

TEST(Registers, PathsMustAgree) {
  const std::string_view leak = R"(
    load_const r1, c3
    jump_if r1, L
    own r2, r0
    jump M
  L:
    kill r0
  M:
    load_none r3
    return r3)";
  EXPECT_THAT(verify_code(leak, 1), HasSubstr("r2 holds a value on one path to unit 16 and is empty on another"));
  const std::string_view both = R"(
    load_const r1, c3
    jump_if r1, L
    own r2, r0
    jump M
  L:
    kill r0
    load_int r2, int32, 1
  M:
    return r2)";
  EXPECT_EQ(verify_code(both, 1), "ok");
  const std::string_view dropped = R"(
    load_const r1, c3
    jump_if r1, M
    load_int r2, int32, 1
  M:
    move r3, r2
    return r3)";
  EXPECT_THAT(verify_code(dropped, 0), HasSubstr("(move): r2 is empty"));
  const std::string_view alias_or_value = R"(
    load_const r1, c3
    own r0, r0
    alias r2, r0
    jump_if r1, M
    load_import r2, "host.read"
  M:
    kill r2
    return r0)";
  EXPECT_THAT(verify_code(alias_or_value, 1),
              HasSubstr("r2 holds an alias on one path to unit 18 and a value to be released on another"));
}

TEST(Registers, KindsJoin) {
  const std::string_view code = R"(
    load_const r1, c3
    load_int r2, int32, 1
    jump_if r1, M
    load_int r2, {}, 1
  M:
    add.i32 r2, r2, r2
    return r2)";
  EXPECT_EQ(verify_code(fmt::format(fmt::runtime(code), "int32"), 0), "ok");
  EXPECT_THAT(verify_code(fmt::format(fmt::runtime(code), "int64"), 0),
              HasSubstr("(add.i32): r2 holds Scalar, not Scalar int32"));
}

TEST(Registers, AliasesOfOneRootJoin) {
  const std::string_view code = R"(
    load_const r1, c3
    jump_if r1, L
    own r2, r0
    alias r3, r2
    jump M
  L:
    own r2, r0
    alias r3, r2
  M:
    own r4, r3
    {}
    return r4)";
  EXPECT_EQ(verify_code(fmt::format(fmt::runtime(code), "kill r2"), 1), "ok");
  EXPECT_THAT(verify_code(fmt::format(fmt::runtime(code), "kill r2 own r5, r3"), 1), HasSubstr("r3 is empty"));
}

TEST(Registers, InstructionsDemandClasses) {
  EXPECT_THAT(verify_code("add.f32 r1, r0, r0 return r1", 1), HasSubstr("r0 holds any value, not Scalar float32"));
  EXPECT_THAT(verify_code("load_int r0, int32, 1 jump_if r0, L L: return r0", 0), HasSubstr("not Scalar bool"));
  EXPECT_THAT(verify_code("load_int r0, int32, 1 make_shape r1, [r0] return r1", 0), HasSubstr("not Prim int64"));
  EXPECT_THAT(verify_code("get_field r1, r0, 0 kill r0 return r1", 1), HasSubstr("not Tuple"));
  EXPECT_THAT(verify_code("load_none r0 prim_to_scalar r1, r0 return r1", 0), HasSubstr("not Prim"));
  EXPECT_THAT(verify_code("get_dim r1, r0, 0 fail 1, c1", 1), HasSubstr("not Scalar or Tensor or Shape"));
  EXPECT_THAT(verify_code("load_dim r0, 1 cast r1, r0, int8 return r1", 0), HasSubstr("not Scalar"));
  EXPECT_THAT(verify_code("load_int r0, string, 1 return r0", 0), HasSubstr("no scalars of dtype string"));
  EXPECT_THAT(verify_code("load_int r0, bool, 2 return r0", 0), HasSubstr("a bool is 0 or 1"));
  EXPECT_THAT(verify_code("load_int r0, bool, 1 load_int r1, int8, 1 load_int r2, int16, 1 select r3, r0, r1, r2 "
                          "return r3",
                          0),
              HasSubstr("not Scalar int8"));
  EXPECT_EQ(verify_code("load_int r0, int32, 1 less.i32 r1, r0, r0 not r1, r1 select r0, r1, r0, r0 return r0", 0),
            "ok");
}

TEST(Registers, ChecksRefine) {
  const std::string_view code = "check_value r0, t0, [] kill r1 add.i32 r2, r0, r0 return r2";
  EXPECT_EQ(verify_code(code, 2, "check t0 = Tensor[(), int32]"), "ok");
  EXPECT_THAT(verify_code(code, 2, "check t0 = Tensor[int32]"),
              HasSubstr("r0 holds Scalar or Tensor int32, not Scalar int32"));
  const std::string_view params = "check_params t0, [r2] kill r0 make_shape r3, [r2] return r3";
  EXPECT_EQ(verify_code(params, 2, "vars n check t0 = (Tensor[(n,), int32], Tensor[(), bool]) binds (1)"), "ok");
  EXPECT_THAT(verify_code(params, 2, "vars n check t0 = (Tensor[(n,), int32], Tensor[(n,), bool]) binds (1)"),
              HasSubstr("r1 holds a value that was not released"));
  EXPECT_THAT(verify_code(params, 2, "vars n check t0 = (Tensor[(n,), int32],) binds (1)"),
              HasSubstr("check 0 is no tuple of the 2 parameters"));
  EXPECT_THAT(verify_code("own r0, r0 check_params t0, [] fail 1, c1", 1, "check t0 = (Object,)"),
              HasSubstr("r0 no longer holds its parameter"));
  EXPECT_THAT(verify_code("check_params t0, [r2] fail 1, c1", 1, "check t0 = (Object,)"),
              HasSubstr("check 0 has 0 variables, not 1"));
  EXPECT_THAT(verify_code("check_value r0, t0, [r0] fail 1, c1", 1, "vars n check t0 = Shape[(n,)] binds (1)"),
              HasSubstr("r0 is checked and cannot take a variable"));
  EXPECT_THAT(verify_code("check_value r0, t0, [r1] fail 1, c1", 1, "vars n check t0 = Shape[(n,)] binds (0)"),
              HasSubstr("r1 is empty"));
}

TEST(Registers, ResultsKeepToTheSignature) {
  EXPECT_EQ(verify_code("load_int r0, int32, 1 return r0", 0, "", "Tensor[(), int32]"), "ok");
  EXPECT_THAT(verify_code("load_int r0, int64, 1 return r0", 0, "", "Tensor[(), int32]"),
              HasSubstr("r0 holds Scalar int64, the function returns Scalar int32"));
  EXPECT_THAT(verify_code("own r0, r0 return r0", 1, "", "Tensor"),
              HasSubstr("r0 holds any value, the function returns Scalar or Tensor"));
}

}  // namespace
}  // namespace ingot::vm
