#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vm/executable/programs.h"
#include "tests/vm/verifier/verify_text.h"

namespace ingot::vm {
namespace {

using test::verify_code;
using ::testing::HasSubstr;

TEST(Calls, AcceptsEverything) { EXPECT_EQ(test::verify_text(test::kEverything), "ok"); }

TEST(Calls, ArgumentsFillTheWindow) {
  EXPECT_EQ(verify_code("move r2, r0 kill r1 call r2, @callee return r2"), "ok");
  EXPECT_EQ(verify_code("move r5, r0 call r5, @callee kill r5 own r1, r1 return r1"), "ok");
  EXPECT_THAT(verify_code("call r2, @callee fail 1, c1"), HasSubstr("r2 is empty"));
  EXPECT_THAT(verify_code("call r0, @callee fail 1, c1"),
              HasSubstr("r1 above the call's window holds a value that was not released"));
  EXPECT_THAT(verify_code("load_import r8, \"host.read\" call_value r9, r8, 2 fail 1, c1", 0),
              HasSubstr("leaves the function's 10 registers"));
  EXPECT_THAT(verify_code("load_none r5 call r0, @callee move r0, r5 fail 1, c1", 1), HasSubstr("r5 is empty"));
  EXPECT_THAT(verify_code("load_none r2 call r2, @captor fail 1, c1", 0), HasSubstr("captures 2 values"));
}

TEST(Calls, AliasesMustOutliveTheCall) {
  EXPECT_EQ(verify_code("alias r2, r0 call r2, @callee kill r2 own r0, r0 return r0", 1), "ok");
  EXPECT_THAT(verify_code("load_import r2, \"host.read\" alias r3, r2 call_value r2, r0, 2 return r2", 1),
              HasSubstr("r3 is an alias of r2, which the call consumes"));
  EXPECT_THAT(verify_code("load_import r2, \"host.read\" alias r4, r2 move r3, r4 load_import r1, \"host.read\" "
                          "call_value r2, r1, 2 return r2",
                          0),
              HasSubstr("r3 is an alias of r2, which the call consumes"));
  EXPECT_THAT(verify_code("load_import r1, \"host.read\" alias r2, r1 call_value r2, r1, 1 return r2", 0),
              HasSubstr("r2 is an alias of r1, which has lost its value"));
  EXPECT_THAT(verify_code("load_import r2, \"host.read\" call_value r2, r2, 0 return r2", 0),
              HasSubstr("r2 lies in the call's window"));
}

TEST(Calls, ResultsHaveTheCalleesClass) {
  EXPECT_EQ(verify_code("load_int r0, int32, 1 call r0, @typed add.f32 r0, r0, r0 return r0", 0), "ok");
  EXPECT_THAT(verify_code("load_int r0, int32, 1 call r0, @typed add.i32 r0, r0, r0 return r0", 0),
              HasSubstr("r0 holds Scalar float32, not Scalar int32"));
  EXPECT_THAT(verify_code("load_int r0, int64, 1 call r0, @typed return r0", 0),
              HasSubstr("r0 holds Scalar int64, 'typed' takes Scalar int32"));
  EXPECT_THAT(verify_code("move r1, r0 call r1, @typed return r1", 1), HasSubstr("'typed' takes Scalar int32"));
}

TEST(Calls, TailCallsLeaveNothing) {
  EXPECT_EQ(verify_code("kill r1 tail_call r0, @callee"), "ok");
  EXPECT_THAT(verify_code("tail_call r0, @callee"), HasSubstr("1 registers besides the arguments hold values"));
  EXPECT_THAT(verify_code("alias r2, r0 tail_call r2, @callee", 1),
              HasSubstr("r2 is borrowed from the frame that ends"));
  EXPECT_EQ(verify_code("load_int r1, int32, 1 kill r0 tail_call r1, @typed", 1, "", "Tensor[(), float32]"), "ok");
  EXPECT_THAT(verify_code("load_int r1, int32, 1 kill r0 tail_call r1, @typed", 1, "", "Tensor[(), int32]"),
              HasSubstr("'typed' returns Scalar float32, this function Scalar int32"));
  EXPECT_EQ(verify_code("load_import r1, \"host.read\" move r2, r0 tail_call_value r2, r1, 1", 1), "ok");
  EXPECT_THAT(verify_code("load_import r1, \"host.read\" tail_call_value r2, r1, 0", 1),
              HasSubstr("1 registers besides the arguments"));
}

TEST(Calls, ClosuresTakeTheirCaptures) {
  EXPECT_EQ(verify_code("load_none r0 load_none r1 make_closure r2, @captor, [r0, r1] return r2", 0), "ok");
  EXPECT_THAT(verify_code("load_none r0 make_closure r2, @captor, [r0] return r2", 0),
              HasSubstr("'captor' captures 2 values, not 1"));
}

TEST(Calls, TrustEndsWithClosures) {
  // As a closure, @typed may get anything: its own code must check.
  EXPECT_THAT(verify_code("make_closure r0, @typed, [] return r0", 0),
              HasSubstr("function 'typed': unit 0 (cast): r0 holds any value, not Scalar"));
}

TEST(Calls, PackedFuncsGetWhatTheyMayWrite) {
  EXPECT_EQ(verify_code("own r0, r0 call_packed r1, \"host.read\", [r0] kill r0 return r1", 1), "ok");
  EXPECT_EQ(verify_code("call_packed r1, \"host.read\", [r0] kill r0 return r1", 1), "ok");
  EXPECT_THAT(verify_code("call_packed r1, \"host.write\", [] return r1", 0),
              HasSubstr("'host.write' writes 1 arguments, there are 0"));
  EXPECT_THAT(verify_code("load_const r0, c0 call_packed r1, \"host.write\", [r0] return r1", 0),
              HasSubstr("r0, which 'host.write' writes, is no tensor of this function's own"));
  EXPECT_EQ(verify_code("load_dim r0, 2 new_tensor_dyn r1, float32, [r0] call_packed r2, \"host.write\", [r1] kill r2 "
                        "return r1",
                        0),
            "ok");
}

TEST(Calls, BuiltinsHaveArities) {
  EXPECT_EQ(verify_code("call_builtin r1, shape_of, [r0] kill r0 return r1", 1), "ok");
  EXPECT_THAT(verify_code("call_builtin r1, shape_of, [] return r1", 0),
              HasSubstr("shape_of takes 1 to 1 arguments, not 0"));
}

}  // namespace
}  // namespace ingot::vm
