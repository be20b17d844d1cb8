// The load option of the public interface.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gmock/gmock.h>

#include "runtime/base/cpu.h"
#include "vm/executable/text.h"
#include "vm/executable/writer.h"
#include <ingot/ingot.hpp>

namespace ingot::api {
namespace {

constexpr std::string_view kProgram = R"(
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) { for i in k { B[i] = A[i] * 2f32; } }
kernel k0 = prim_func 1 -> 1 of 0
func @main exported params 1 captures 0 registers 6 {
  vars n
  signature fn(Tensor[(n,), float32]) -> Tensor[(n,), float32]
  names "x"
  check t0 = (Tensor[(n,), float32],) binds (1)
  storage s0 = float32 (n,)
  code
    check_params t0, [r1]
    plan [r1]
    new_tensor r4, s0
    call_kernel k0, [r0, r4]
    kill r0
    return r4
}
)";

// The size is found on the way.
constexpr std::string_view kDynamic = R"(
prim_func @twice(A: Buffer[(k,), float32], B: Buffer[(k,), float32]) { for i in k { B[i] = A[i] * 2f32; } }
kernel k0 = prim_func 1 -> 1 of 0
func @main exported params 1 captures 0 registers 3 {
  vars m
  signature fn(Object) -> Tensor[ndim=1, float32]
  names "x"
  check t0 = (Object,)
  check t1 = Tensor[(m,), float32] binds (1)
  code
    check_params t0, []
    own r1, r0
    check_value r1, t1, [r0]
    new_tensor_dyn r2, float32, [r0]
    call_kernel k0, [r1, r2]
    kill r1
    return r2
}
)";

const std::filesystem::path kPath = "/tmp/perf-" + std::to_string(::getpid()) + ".map";

// Of a run with vectors of 1 to `longest` elements.
std::vector<std::string> map_after_runs(const LoadOptions& options, std::string_view program = kProgram,
                                        int64_t longest = 1) {
  std::filesystem::remove(kPath);
  const auto executable = Executable::load(vm::write_program(vm::assemble(program)), options);
  Session session(executable);
  std::vector<float> twice;
  for (int64_t length = 1; length <= longest; ++length) {
    const std::vector<float> ones(static_cast<size_t>(length), 1);
    twice.push_back(2);
    session.set("x", Value::tensor<float>(ones, {length}));
    session.run();
    EXPECT_THAT(session.output(0).elements<float>(), ::testing::ElementsAreArray(twice));
  }
  std::ifstream file(kPath);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::filesystem::remove(kPath);
  return lines;
}

TEST(PerfMap, IsWrittenWhereItIsAskedFor) {
  if (detect_cpu() < Cpu::Avx2) GTEST_SKIP() << "no generated code on this machine";
  EXPECT_THAT(map_after_runs({}), ::testing::IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(kPath));
  LoadOptions options;
  options.perf_map = true;
  EXPECT_THAT(map_after_runs(options),
              ::testing::ElementsAre(::testing::MatchesRegex("[0-9a-f]+ [0-9a-f]+ twice.k..k.")));
}

TEST(PerfMap, CodeIsMadeOnceWhereSizesAreFoundOnTheWay) {
  if (detect_cpu() < Cpu::Avx2) GTEST_SKIP() << "no generated code on this machine";
  LoadOptions options;
  options.perf_map = true;
  EXPECT_THAT(map_after_runs(options, kDynamic, 20), ::testing::ElementsAre(::testing::HasSubstr("twice[k][k]")));
}

}  // namespace
}  // namespace ingot::api
