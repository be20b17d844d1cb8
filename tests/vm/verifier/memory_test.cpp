#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vm/executable/programs.h"
#include "tests/vm/verifier/verify_text.h"

namespace ingot::vm {
namespace {

using test::verify_code;
using ::testing::HasSubstr;

constexpr std::string_view kTables = R"(
  vars n, m
  storage s0 = float32 (4,)
  storage s1 = float32 (n, 4)
  storage s2 = float32 (m,)
  storage s3 = int32 (4,)
  storage s4 = string (4,)
  storage s5 = float32 ()
)";

std::string memory(std::string_view code) { return verify_code(code, 0, kTables); }

TEST(Memory, ArenasArePlannedOnce) {
  EXPECT_EQ(memory("plan [] alloc_tensor r0, s0 load_none r1 return r1"), "ok");
  EXPECT_EQ(memory("load_dim r2, 3 plan [r2] alloc_tensor r0, s1 load_none r1 return r1"), "ok");
  EXPECT_THAT(memory("alloc_tensor r0, s0 load_none r1 return r1"), HasSubstr("sizes were not planned on every path"));
  EXPECT_THAT(memory("new_tensor r0, s0 return r0"), HasSubstr("sizes were not planned on every path"));
  EXPECT_THAT(memory("load_dim r2, 3 plan [r2] alloc_tensor r0, s2 load_none r1 return r1"),
              HasSubstr("storage 2 uses variables that plan did not take"));
  EXPECT_THAT(memory("plan [] plan [] load_none r1 return r1"), HasSubstr("has another one at unit 0"));
  EXPECT_THAT(memory("load_none r0 plan [r0] return r0"), HasSubstr("not Prim int64"));
  EXPECT_THAT(memory("L: loop [] plan [] jump L"), HasSubstr("(plan): stands in the loop at unit 0"));
  EXPECT_THAT(memory("load_const r0, c3 jump_if r0, L plan [] L: alloc_tensor r1, s0 return r0"),
              HasSubstr("sizes were not planned on every path"));
  EXPECT_THAT(memory("plan [] alloc_tensor r0, s4 load_none r1 return r1"), HasSubstr("strings do not lie in arenas"));
  EXPECT_THAT(memory("plan [] alloc_tensor r0, s5 load_none r1 return r1"), HasSubstr("rank 0 is a scalar"));
}

// Kernels that are prepared for planned dimensions read parameters of these.
TEST(Memory, PlansAreMadeForTheDimensionsThatWereChecked) {
  const auto checked = [](std::string_view code) {
    return verify_code(fmt::format("check_params t0, [r1] {} new_tensor r3, s0 kill r0 return r3", code), 1, R"(
  vars n, m
  storage s0 = float32 (n,)
  check t0 = (Tensor[(n,), float32],) binds (1))");
  };
  EXPECT_EQ(checked("plan [r1]"), "ok");
  EXPECT_EQ(checked("load_dim r2, 1000 plan [r1, r2]"), "ok");
  EXPECT_THAT(checked("load_dim r2, 1000 plan [r2]"), HasSubstr("r2 is not what check_params took for n"));
  EXPECT_THAT(checked("load_dim r1, 1000 plan [r1]"), HasSubstr("r1 is not what check_params took for n"));
  EXPECT_THAT(verify_code("check_params t0, [r2, r2] plan [r2, r2] new_tensor r3, s0 kill r0 kill r1 return r3", 2, R"(
  vars n, m
  storage s0 = float32 (n,)
  check t0 = (Tensor[(n,), float32], Tensor[(m,), float32]) binds (1, 1))"),
              HasSubstr("r2 is not what check_params took for n"));
}

TEST(Memory, ArenaTensorsDoNotEscape) {
  EXPECT_THAT(memory("plan [] alloc_tensor r0, s0 return r0"), HasSubstr("must not get into a result"));
  EXPECT_THAT(memory("plan [] alloc_tensor r0, s0 copy r1, r0 return r1"), HasSubstr("may lie in an arena"));
  EXPECT_EQ(memory("plan [] alloc_tensor r0, s0 alias r2, r0 own r1, r2 return r1"), "ok");
  EXPECT_THAT(memory("plan [] alloc_tensor r0, s0 tail_call r0, @callee"), HasSubstr("borrowed from the frame"));
  EXPECT_EQ(memory("plan [] alloc_tensor r0, s0 alias r1, r0 call r1, @callee return r1"), "ok");
  EXPECT_EQ(memory("plan [] alloc_tensor r0, s0 call_packed r1, \"host.read\", [r0] return r1"), "ok");
  EXPECT_THAT(memory("plan [] load_dim r1, 4 alloc_tensor r0, s0 new_view r2, r0, [r1] return r2"),
              HasSubstr("r0 may lie in an arena"));
}

TEST(Memory, ViewsShowOneTensor) {
  EXPECT_EQ(memory("load_dim r2, 3 plan [r2] alloc_tensor r0, s0 alloc_view r1, r0, s1 return r2"), "ok");
  EXPECT_THAT(memory("plan [] alloc_tensor r0, s0 alloc_view r1, r0, s3 load_none r2 return r2"),
              HasSubstr("a view has the dtype of its base"));
  EXPECT_THAT(memory("plan [] new_tensor r0, s0 alloc_view r1, r0, s0 kill r0 load_none r2 return r2"),
              HasSubstr("r0 is no tensor of one place in this function's arena"));
}

TEST(Memory, KernelsWriteWhatNobodySees) {
  EXPECT_EQ(memory("plan [] load_const r0, c0 alloc_tensor r1, s0 call_kernel k1, [r0, r1] return r0"), "ok");
  EXPECT_EQ(memory("plan [] load_const r0, c0 new_tensor r1, s0 call_kernel k1, [r0, r1] return r1"), "ok");
  EXPECT_EQ(memory("load_const r0, c0 new_scalar r1, float32 call_kernel k1, [r0, r1] return r1"), "ok");
  EXPECT_THAT(memory("load_const r0, c0 load_const r1, c0 call_kernel k1, [r0, r1] return r1"),
              HasSubstr("r1 is written by the kernel, but others may see it"));
  EXPECT_THAT(
      memory("plan [] load_const r0, c0 new_tensor r1, s0 copy r2, r1 call_kernel k1, [r0, r1] kill r2 return r1"),
      HasSubstr("r1 is written by the kernel, but others may see it"));
  EXPECT_THAT(memory("plan [] load_const r0, c0 new_tensor r1, s0 alias r2, r1 call_kernel k1, [r0, r2] return r1"),
              HasSubstr("r2 is written by the kernel, but others may see it"));
  EXPECT_THAT(
      memory("plan [] load_const r0, c0 new_tensor r1, s0 call_packed r2, \"host.read\", [r1] call_kernel k1, [r0, r1] "
             "kill r2 return r1"),
      HasSubstr("r1 is written by the kernel, but others may see it"));
  EXPECT_THAT(memory("plan [] new_tensor r1, s0 call_kernel k1, [r1, r1] return r1"), HasSubstr("r1 and r1 overlap"));
  EXPECT_THAT(memory("load_dim r2, 1 plan [r2] alloc_tensor r0, s0 alloc_view r1, r0, s1 call_kernel k1, [r0, r1] "
                     "return r2"),
              HasSubstr("r0 and r1 overlap"));
  EXPECT_THAT(memory("plan [] new_tensor r1, s0 call_kernel k1, [r1] return r1"),
              HasSubstr("1 inputs and 1 outputs, not 1"));
  EXPECT_THAT(memory("plan [] load_const r0, c1 new_tensor r1, s0 call_kernel k1, [r0, r1] return r1"),
              HasSubstr("r0 holds String, a kernel takes tensors or scalars"));
  EXPECT_THAT(memory("plan [] new_tensor r0, s4 new_tensor r1, s0 call_kernel k1, [r0, r1] kill r0 return r1"),
              HasSubstr("r0 holds Tensor string"));
}

TEST(Memory, PrimFuncsGetTheirDTypes) {
  const auto program = [](std::string_view operand) {
    return test::verify_text(fmt::format(R"(
prim_func @scale(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) {{
  for i in k {{
    B[i] = A[i] * 2f32;
  }}
}}
const c0 = tensor float32 (2,) {{1, 2}}
const c1 = tensor int32 (2,) {{1, 2}}
const c2 = scalar float32 1
kernel k0 = prim_func 1 -> 1 of 0
func @main exported params 0 registers 3 {{
  signature fn() -> Tensor[(2,), float32]
  storage s0 = float32 (2,)
  code plan [] load_const r0, {} new_tensor r1, s0 call_kernel k0, [r0, r1] return r1
}}
)",
                                         operand));
  };
  EXPECT_EQ(program("c0"), "ok");
  EXPECT_THAT(program("c1"), HasSubstr("operand 0 is Tensor int32, PrimFunc 'scale' takes Tensor float32"));
  EXPECT_THAT(program("c2"), HasSubstr("operand 0 is Scalar float32, PrimFunc 'scale' takes Tensor float32"));
}

TEST(Memory, StructureIsChecked) {
  const auto changed = [](const std::function<void(Program&)>& change) -> std::string {
    Program program = assemble(test::kEverything);
    change(program);
    try {
      verify(program);
      return "ok";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::CorruptFile);
      return error.what();
    }
  };
  EXPECT_EQ(changed([](Program&) {}), "ok");
  EXPECT_THAT(changed([](Program& p) {
                p.constants[0].dims = {3, 3};
              }),
              HasSubstr("constant 0: there are 24 bytes, dimensions ask for 36"));
  EXPECT_THAT(changed([](Program& p) { p.constants[0].dims = {INT64_MAX, 3}; }), HasSubstr("negative or too large"));
  EXPECT_THAT(changed([](Program& p) { p.constants[0].dims = {-1, 3}; }), HasSubstr("negative or too large"));
  EXPECT_THAT(changed([](Program& p) { p.constants[10].bits = 2; }), HasSubstr("a bool is 0 or 1, not 2"));
  EXPECT_THAT(changed([](Program& p) { p.constants[1].bits = uint64_t{1} << 40; }),
              HasSubstr("wider than dtype int32"));
  EXPECT_THAT(changed([](Program& p) { p.constants[3].kind = Kind::Closure; }), HasSubstr("no constants of kind"));
  EXPECT_THAT(changed([](Program& p) { p.functions[0].params = 1; }), HasSubstr("signature has 2 parameters"));
  EXPECT_THAT(changed([](Program& p) { p.functions[0].registers = 1; }), HasSubstr("2 parameters and captures, 1"));
  EXPECT_THAT(changed([](Program& p) { p.functions[2].name = "main"; }), HasSubstr("exported twice"));
  EXPECT_THAT(changed([](Program& p) {
                p.functions[0].checks[0].binds = {true, false};
              }),
              HasSubstr("check 0: (Tensor[(n,), float32], Tensor[(), bool]) has 1 variables, not 2"));
  EXPECT_THAT(changed([](Program& p) { p.kernels[0].inputs = 2; }), HasSubstr("PrimFunc 'scale' has 1 and 1"));
  EXPECT_THAT(changed([](Program& p) { p.kernels[1].outputs = 0; }), HasSubstr("0 outputs"));
  EXPECT_THAT(changed([](Program& p) { p.kernels[1].prim_func = p.prim_funcs[0]; }), HasSubstr("takes no PrimFunc"));
  EXPECT_THAT(changed([](Program& p) { p.imports[1] = p.imports[0]; }), HasSubstr("listed twice"));
  EXPECT_THAT(changed([](Program& p) { p.functions[0].spans[1].unit = 0; }), HasSubstr("not in order"));
  EXPECT_THAT(changed([](Program& p) { p.functions[0].signature = object_info(); }), HasSubstr("no function"));
}

}  // namespace
}  // namespace ingot::vm
