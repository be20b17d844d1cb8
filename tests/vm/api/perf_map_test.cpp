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

const std::filesystem::path kPath = "/tmp/perf-" + std::to_string(::getpid()) + ".map";

std::vector<std::string> map_after_run(const LoadOptions& options) {
  std::filesystem::remove(kPath);
  const auto executable = Executable::load(vm::write_program(vm::assemble(kProgram)), options);
  Session session(executable);
  session.set("x", Value::tensor<float>(std::vector<float>{1, 2, 3}, {3}));
  session.run();
  EXPECT_THAT(session.output(0).elements<float>(), ::testing::ElementsAre(2, 4, 6));
  std::ifstream file(kPath);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::filesystem::remove(kPath);
  return lines;
}

TEST(PerfMap, IsWrittenWhereItIsAskedFor) {
  if (detect_cpu() < Cpu::Avx2) GTEST_SKIP() << "no generated code on this machine";
  EXPECT_THAT(map_after_run({}), ::testing::IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(kPath));
  LoadOptions options;
  options.perf_map = true;
  EXPECT_THAT(map_after_run(options),
              ::testing::ElementsAre(::testing::MatchesRegex("[0-9a-f]+ [0-9a-f]+ twice.k..k.")));
}

}  // namespace
}  // namespace ingot::api
