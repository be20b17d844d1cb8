#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vm/verifier/verify_text.h"
#include "vm/isa/decode.h"

namespace ingot::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Verified {
  Program program;
  ProgramFacts facts;
};

Verified verified(std::string_view code, int params, std::string_view tables) {
  Program program = assemble(test::around(code, params, tables));
  ProgramFacts facts = verify(program);
  return {std::move(program), std::move(facts)};
}

TEST(Facts, KnowOriginsOfOperands) {
  const Verified v = verified(R"(
    check_params t0, [r2]
    plan [r2]
    load_const r3, c0
    alloc_tensor r4, s0
    alias r8, r0
    own r8, r8
    call_kernel k0, [r8, r3, r4]
    kill r8
    call_builtin r5, shape_of, [r4]
    check_value r1, t1, [r2]
    new_tensor r6, s0
    call_kernel k0, [r4, r1, r6]
    kill r5
    kill r0
    kill r1
    return r6)",
                              2, R"(
    vars n
    storage s0 = float32 (n,)
    check t0 = (Tensor[(n,), float32], Object) binds (1)
    check t1 = Tensor[(n,), float32] binds (0))");
  const FunctionFacts& facts = v.facts.functions[0];
  using From = Origin::From;
  ASSERT_EQ(facts.kernels.size(), 2u);
  EXPECT_THAT(facts.kernels[0].operands,
              ElementsAre(Origin{From::Param, 0}, Origin{From::Constant, 0}, Origin{From::Site, 0}));
  EXPECT_THAT(facts.kernels[1].operands,
              ElementsAre(Origin{From::Site, 0}, Origin{From::Check, 1}, Origin{From::Site, 1}));
  EXPECT_EQ(facts.kernels[0].classes[0], ValueClass::of(Kind::Tensor, DType::Float32));
  EXPECT_EQ(facts.params_check, 0u);
  EXPECT_EQ(facts.entry_dims, 1u);
  EXPECT_FALSE(facts.trusts_callers);
  EXPECT_TRUE(v.facts.functions[2].trusts_callers);
  ASSERT_EQ(facts.sites.size(), 2u);
  EXPECT_EQ(facts.sites[0].opcode, Opcode::AllocTensor);
  EXPECT_EQ(facts.sites[0].first, facts.kernels[0].unit);
  EXPECT_EQ(facts.sites[0].last, facts.kernels[1].unit);
}

// Kernels that were prepared for planned dimensions would run beyond the tensor.
TEST(Facts, ChecksAgainstOtherNumbersThanThePlannedTellNothing) {
  const auto origin = [](std::string_view check) {
    const Verified v = verified(fmt::format("check_params t0, [r2] plan [r2] load_dim r3, 9 {} new_tensor r4, s0 "
                                            "call_kernel k1, [r1, r4] kill r0 kill r1 return r4",
                                            check),
                                2, R"(
    vars n, m
    storage s0 = float32 (n,)
    check t0 = (Tensor[(n,), float32], Object) binds (1)
    check t1 = Tensor[(n,), float32] binds (0)
    check t2 = Tensor[(n,), float32] binds (1)
    check t3 = Tensor[(m,), float32] binds (1))");
    return v.facts.functions[0].kernels[0].operands[0];
  };
  using From = Origin::From;
  EXPECT_EQ(origin("check_value r1, t1, [r2]"), (Origin{From::Check, 1}));
  EXPECT_EQ(origin("check_value r1, t1, [r3]"), Origin{});
  EXPECT_EQ(origin("check_value r1, t2, [r3]"), Origin{});
  EXPECT_EQ(origin("check_value r1, t2, [r2]"), Origin{});
  EXPECT_EQ(origin("check_value r1, t3, [r3]"), (Origin{From::Check, 3}));
}

constexpr std::string_view kStorages = "storage s0 = float32 (4,) storage s1 = float32 (2, 2)";

TEST(Facts, AliasesAndViewsExtendRanges) {
  const Verified v = verified(R"(
    plan []
    load_const r0, c0
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
    alias r2, r1
    alloc_view r3, r1, s1
    kill r1
    alloc_tensor r4, s0
    call_kernel k0, [r2, r3, r4]
    return r0)",
                              0, kStorages);
  const FunctionFacts& facts = v.facts.functions[0];
  ASSERT_EQ(facts.sites.size(), 3u);
  EXPECT_EQ(facts.sites[1].base, 0u);
  for (const size_t site : {0, 1}) {
    EXPECT_EQ(facts.sites[site].first, facts.kernels[0].unit);
    EXPECT_EQ(facts.sites[site].last, facts.kernels[1].unit);
  }
  EXPECT_EQ(facts.sites[2].first, facts.kernels[1].unit);
}

TEST(Facts, LoopsExtendRanges) {
  const Verified v = verified(R"(
    plan []
    load_const r0, c0
    load_const r9, c3
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
  L:
    loop [r0 Tensor float32 kept, r1 Tensor float32 kept, r9 Scalar bool kept]
    alloc_tensor r2, s0
    call_kernel k1, [r1, r2]
    alloc_tensor r3, s0
    call_kernel k1, [r2, r3]
    jump_if r9, L
    return r0)",
                              0, kStorages);
  const FunctionFacts& facts = v.facts.functions[0];
  const uint32_t header = v.program.functions[0].loops[0].unit;
  ASSERT_EQ(facts.sites.size(), 3u);
  EXPECT_EQ(facts.sites[0].first, facts.kernels[0].unit);
  EXPECT_GT(facts.sites[0].last, facts.kernels[2].unit);
  EXPECT_GT(facts.sites[1].first, header);
  EXPECT_EQ(facts.sites[1].last, facts.kernels[2].unit);
  EXPECT_EQ(facts.sites[2].last, facts.kernels[2].unit);
}

TEST(Facts, SitesOfOneRegisterShareARange) {
  const Verified v = verified(R"(
    plan []
    load_const r0, c0
    load_const r9, c3
    jump_if r9, L
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
    jump M
  L:
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
  M:
    alloc_tensor r2, s0
    call_kernel k1, [r1, r2]
    return r0)",
                              0, kStorages);
  const FunctionFacts& facts = v.facts.functions[0];
  ASSERT_EQ(facts.sites.size(), 3u);
  EXPECT_EQ(facts.kernels[2].operands[0], Origin{});
  EXPECT_EQ(facts.sites[0].last, facts.kernels[2].unit);
  EXPECT_EQ(facts.sites[1].last, facts.kernels[2].unit);
}

std::vector<Register> to_release(const Verified& v, uint32_t function, uint32_t unit, FramePoint point) {
  RegisterSet set(v.program.functions[function].registers);
  set.insert(0);
  registers_to_release(v.program.functions[function], v.facts.functions[function], unit, point, set);
  std::vector<Register> registers;
  for (uint32_t reg = set.next(0); reg != RegisterSet::kEnd; reg = set.next(reg + 1))
    registers.push_back(static_cast<Register>(reg));
  return registers;
}

// What the sides of a branch leave behind is of no use to anybody: their tensors may share memory.
TEST(Facts, DeadSitesOfOneRegisterStayApart) {
  const Verified v = verified(R"(
    plan []
    load_const r0, c0
    load_const r9, c3
    jump_if r9, L
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
    jump M
  L:
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
  M:
    alloc_tensor r2, s0
    call_kernel k1, [r0, r2]
    return r0)",
                              0, kStorages);
  const FunctionFacts& facts = v.facts.functions[0];
  ASSERT_EQ(facts.sites.size(), 3u);
  for (const size_t site : {0, 1, 2}) {
    EXPECT_EQ(facts.sites[site].first, facts.kernels[site].unit);
    EXPECT_EQ(facts.sites[site].last, facts.kernels[site].unit);
  }
}

// Three sides meet one after the other, and are read then.
TEST(Facts, SitesThatMeetTwiceShareARange) {
  const Verified v = verified(R"(
    plan []
    load_const r0, c0
    load_const r9, c3
    jump_if r9, L
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
    jump M
  L:
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
  M:
    jump_if r9, N
    alloc_tensor r1, s0
    call_kernel k1, [r0, r1]
  N:
    alloc_tensor r2, s0
    call_kernel k1, [r1, r2]
    return r0)",
                              0, kStorages);
  const FunctionFacts& facts = v.facts.functions[0];
  ASSERT_EQ(facts.sites.size(), 4u);
  for (const size_t site : {0, 1, 2}) {
    EXPECT_EQ(facts.sites[site].first, facts.kernels[0].unit);
    EXPECT_EQ(facts.sites[site].last, facts.kernels[3].unit);
  }
}

TEST(Facts, FramesKnowWhatToRelease) {
  const Verified v = verified(R"(
    own r0, r0
    move r3, r1
    alias r4, r0
    call r4, @callee
    kill r0
    kill r3
    return r4)",
                              2, "");
  EXPECT_THAT(to_release(v, 0, 0, FramePoint::Before), ElementsAre(0, 1));
  EXPECT_THAT(to_release(v, 0, 6, FramePoint::Before), ElementsAre(0, 3));
  EXPECT_THAT(to_release(v, 0, 13, FramePoint::Before), ElementsAre(0, 3, 4));
}

TEST(Facts, FramesKnowWhatBranchesLeave) {
  const Verified v = verified(R"(
    load_const r2, c3
    jump_if r2, L
    own r3, r0
    kill r1
    jump M
  L:
    own r3, r1
    kill r0
  M:
    load_none r4
    return r3)",
                              2, "");
  std::vector<uint32_t> units;
  for (const Instruction& i : Instructions<Unchecked>(v.program.functions[0].code)) units.push_back(i.at);
  const auto before = [&](size_t instruction) { return to_release(v, 0, units[instruction], FramePoint::Before); };
  EXPECT_THAT(before(2), ElementsAre(0, 1));
  EXPECT_THAT(before(4), ElementsAre(3));
  EXPECT_THAT(before(5), ElementsAre(0, 1));
  EXPECT_THAT(before(6), ElementsAre(0, 3));
  EXPECT_THAT(before(7), ElementsAre(3));
}

TEST(Facts, CallsOwnTheirArguments) {
  const Verified v = verified(R"(
    own r0, r0
    move r3, r1
    load_import r1, "host.read"
    alias r2, r0
    call_value r2, r1, 2
    kill r0
    return r2)",
                              2, "");
  uint32_t call = 0;
  for (const Instruction& i : Instructions<Unchecked>(v.program.functions[0].code))
    if (i.opcode == Opcode::CallValue) call = i.at;
  EXPECT_THAT(to_release(v, 0, call, FramePoint::Before), ElementsAre(0, 1, 3));
  EXPECT_THAT(to_release(v, 0, call, FramePoint::InCall), ElementsAre(0));
  EXPECT_THAT(to_release(v, 0, call + 5, FramePoint::Before), ElementsAre(0, 2));
  EXPECT_THAT(to_release(v, 1, 2, FramePoint::Before), IsEmpty());
}

uint32_t direct_entry_of(std::string_view check, std::string_view caller) {
  const std::string text = fmt::format(R"(
    func @main exported params 1 captures 0 registers 3 {{
      signature fn(Object) -> Object
      check t0 = (Tensor[(), int32],)
      code
        {}
    }}
    func @callee exported params 1 captures 0 registers 2 {{
      signature fn(Object) -> Object
      check t0 = ({},)
      code
        check_params t0, []
        own r0, r0
        return r0
    }})",
                                       caller, check);
  return verify(assemble(text)).functions[1].direct_entry;
}

TEST(Facts, DirectCallsSkipChecksOfClassesThatTheyGive) {
  const std::string_view known = "check_params t0, [] tail_call r0, @callee";
  EXPECT_EQ(direct_entry_of("Tensor[(), int32]", known), 4u);
  EXPECT_EQ(direct_entry_of("Tensor[(), int64]", known), 0u);
  EXPECT_EQ(direct_entry_of("Object", known), 4u);
  EXPECT_EQ(direct_entry_of("Tensor[(4,), int32]", known), 0u);
  EXPECT_EQ(direct_entry_of("Shape", known), 0u);
  EXPECT_EQ(direct_entry_of("Prim[int64]", "load_dim r1, 2 call r1, @callee kill r0 return r1"), 4u);
  EXPECT_EQ(direct_entry_of("Tensor[(), int32]", "tail_call r0, @callee"), 0u);
  EXPECT_EQ(direct_entry_of("Tensor[(), int32]",
                            "load_int r1, int32, 1 call r1, @callee kill r1 alias r1, r0 call r1, @callee kill r0 "
                            "return r1"),
            0u);
}

}  // namespace
}  // namespace ingot::vm
