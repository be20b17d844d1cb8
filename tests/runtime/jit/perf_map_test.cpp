#include "runtime/jit/perf_map.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "runtime/base/error.h"
#include "runtime/jit/compiled_func.h"
#include "runtime/tir/text.h"

namespace ingot::jit {
namespace {

using ::testing::ElementsAre;

struct Line {
  uintptr_t start = 0;
  size_t size = 0;
  std::string name;
};

std::vector<Line> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    Line line;
    words >> std::hex >> line.start >> line.size;
    words.ignore(1);
    std::getline(words, line.name);
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> names_of(const std::filesystem::path& path) {
  std::vector<std::string> names;
  for (const Line& line : lines_of(path)) names.push_back(line.name);
  return names;
}

tir::PrimFunc parse(const std::string& text) {
  size_t offset = 0;
  return tir::parse(text, offset);
}

// Two statements: two functions.
tir::PrimFunc two_stages() {
  return parse(R"(prim_func @scale_sum(A: Buffer[(n, m), float32], B: Buffer[(n, m), float32], S: Buffer[(n,), float32])
    {
      for i in n parallel { for j in m { B[i, j] = A[i, j] * 2f32; } }
      for i in n { S[i] = 0f32; for j in m reduce { S[i] = S[i] + B[i, j]; } }
    })");
}

class PerfMapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(path_);
    if (detect_cpu() < Cpu::Avx2) GTEST_SKIP() << "no generated code on this machine";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) / fmt::format("ingot_perf_map_{}.map", ::getpid());
};

TEST_F(PerfMapTest, NamesEachFunctionWhereItLies) {
  const tir::PrimFunc func = two_stages();
  const std::vector<std::vector<int64_t>> dims = {{4, 32}, {4, 32}, {4}};
  const tir::Nest nest = tir::make_nest(func, dims, {});
  const auto code = generate(nest, detect_cpu(), {});
  ASSERT_TRUE(code && code->memory);
  ASSERT_EQ(code->stages.size(), 2u);
  PerfMap(path_).add(*code, perf_name(func, dims));

  const std::vector<Line> lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].name, "scale_sum[4x32][4x32][4]#0");
  EXPECT_EQ(lines[1].name, "scale_sum[4x32][4x32][4]#1");
  const auto base = reinterpret_cast<uintptr_t>(code->memory->entry<const std::byte*>());
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(lines[i].start, base + code->stages[i].entry);
  EXPECT_EQ(lines[0].start + lines[0].size, lines[1].start);
  EXPECT_EQ(lines[1].start + lines[1].size, base + code->bytes);
  EXPECT_LE(code->bytes, code->memory->bytes());
  EXPECT_GT(lines[1].size, 0u);
}

TEST_F(PerfMapTest, CompiledAndShapedFunctionsAreNamed) {
  const tir::PrimFunc func = parse(R"(prim_func @"odd; name"(A: Buffer[(n, 32), float32], B: Buffer[(n, 32), float32]) {
    for i in n { for j in 32 { B[i, j] = exp(A[i, j]); } }
  })");
  const std::vector<std::vector<int64_t>> dims = {{4, 32}, {4, 32}};
  const std::vector<uint32_t> varying = {1, 1};
  const PerfMap map(path_);
  ASSERT_TRUE(CompiledFunc::compile(func, dims, {}, detect_cpu(), 1, &map));
  ASSERT_TRUE(ShapedFunc::compile(func, dims, varying, detect_cpu(), 1, &map));
  EXPECT_THAT(names_of(path_), ElementsAre("odd_name[4x32][4x32]", "odd_name[nx32][nx32]"));
}

// Two executables of one process; and a file of an older process whose number this one got.
TEST_F(PerfMapTest, AppendsToWhatThisProcessWrote) {
  const tir::PrimFunc func = two_stages();
  const std::vector<std::vector<int64_t>> dims = {{1, 8}, {1, 8}, {1}};
  std::ofstream(path_) << "10 20 old\n";
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
  const PerfMap first(path_);
  ASSERT_TRUE(CompiledFunc::compile(func, dims, {}, detect_cpu(), 1, &first));
  const size_t count = lines_of(path_).size();
  ASSERT_GT(count, 0u);
  EXPECT_NE(names_of(path_)[0], "old");
  const PerfMap second(path_);
  ASSERT_TRUE(CompiledFunc::compile(func, dims, {}, detect_cpu(), 1, &second));
  ASSERT_TRUE(CompiledFunc::compile(func, dims, {}, detect_cpu(), 1, &first));
  EXPECT_EQ(lines_of(path_).size(), 3 * count);
}

TEST_F(PerfMapTest, ReportsWhatTheSystemRefuses) {
  const auto code_of = [](const auto& body) {
    try {
      body();
    } catch (const Error& error) {
      return std::pair(error.code(), std::string(error.what()));
    }
    return std::pair(ErrorCode::Internal, std::string("no error"));
  };
  const auto nowhere = code_of([] { PerfMap("/nowhere/perf-1.map"); });
  EXPECT_EQ(nowhere.first, ErrorCode::Io);
  EXPECT_THAT(nowhere.second, ::testing::HasSubstr("/nowhere/perf-1.map: cannot open the perf map: No such file"));
  std::filesystem::create_symlink("/tmp/elsewhere", path_);
  EXPECT_EQ(code_of([&] { const PerfMap map(path_); }).first, ErrorCode::Io);
  const auto full = code_of([] {
    const PerfMap map("/dev/full");
    CompiledFunc::compile(two_stages(), std::vector<std::vector<int64_t>>{{1, 8}, {1, 8}, {1}}, {}, detect_cpu(), 1,
                          &map);
  });
  EXPECT_EQ(full.first, ErrorCode::Io);
  EXPECT_THAT(full.second, ::testing::HasSubstr("/dev/full: cannot write the perf map: No space left"));
}

}  // namespace
}  // namespace ingot::jit
