// An encoder as exporters write it, over lengths that it has not seen: what it takes does not grow with their number.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/kernels/onednn/primitive_cache.h"
#include "runtime/memory/poison.h"
#include "runtime/tensor/tensor.h"
#include "vm/interpreter/session.h"
#include "vm/loader/function_plan.h"

namespace ingot {
namespace {

#if defined(INGOT_POISONS_MEMORY) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int64_t kLongest = 512;

size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t size = 0;
  size_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

// tests/models/encoder.py, compiled with `options`; null where Python or its packages are missing.
std::shared_ptr<const vm::Executable> encoder(const std::string& sizes, const std::string& options,
                                              const vm::LoadOptions& load = {}) {
  const char* const bin = std::getenv("INGOT_BIN");
  const std::string stem = (std::filesystem::path(::testing::TempDir()) / fmt::format("encoder_{}", getpid())).string();
  const auto run = [](const std::string& command) { return std::system(command.c_str()) == 0; };
  if (bin == nullptr || !run(fmt::format("/usr/bin/python3 tests/models/encoder.py {}.onnx {}", stem, sizes)))
    return nullptr;
  EXPECT_TRUE(run(fmt::format("{}/ingot compile {}.onnx {} -o {}.ingot", bin, stem, options, stem)));
  auto executable = vm::Executable::load(stem + ".ingot", load);
  std::filesystem::remove(stem + ".onnx");
  std::filesystem::remove(stem + ".ingot");
  return executable;
}

Value row_of(int64_t length, int64_t element) {
  const std::vector<int64_t> dims = {1, length};
  auto row = make_tensor(nullptr, DType::Int64, dims);
  std::fill_n(row->elements<int64_t>(), length, element);
  return Value(std::move(row));
}

void run_once(vm::Session& session, int64_t length) {
  Value result = session.run("main", std::vector<Value>{row_of(length, 7), row_of(length, 1)});
  ASSERT_EQ(result.get<TensorObject>()->dims()[1], length);
  session.recycle(std::move(result));
}

// Runs `count` random lengths, each likely for the first time.
void run_lengths(vm::Session& session, std::mt19937& random, int count) {
  for (int i = 0; i < count; ++i)
    run_once(session, static_cast<int64_t>(random() % static_cast<unsigned>(kLongest)) + 1);
}

TEST(Lengths, SessionsKeepWhatTheLongestNeeds) {
  for (const std::string options : {"", "--bound n=512"}) {
    const auto executable = encoder("1 16 2", options);
    if (executable == nullptr) GTEST_SKIP() << "needs Debian's python3-onnx";
    const auto session = vm::Session::create(executable);
    std::mt19937 random(11);
    for (int i = 0; i < 3; ++i) run_once(*session, kLongest);
    const size_t arena = executable->plan(*executable->find("main"), std::vector<int64_t>{kLongest})->segment_bytes;
    run_lengths(*session, random, 40);
    const size_t kept = session->memory().kept;
    run_lengths(*session, random, 40);
    EXPECT_EQ(session->memory().in_use, 0u);
    EXPECT_LE(session->memory().kept, kept + kept / 100) << options;
    EXPECT_LE(kept, 4 * arena) << options;
  }
}

// --bound, end to end: one place for all lengths, and a clear word to longer ones.
TEST(Lengths, BoundsArePlannedOnce) {
  const auto executable = encoder("1 16 2", "--bound n=512");
  if (executable == nullptr) GTEST_SKIP() << "needs Debian's python3-onnx";
  const uint32_t main = *executable->find("main");
  const auto longest = executable->plan(main, std::vector<int64_t>{kLongest});
  const auto shorter = executable->plan(main, std::vector<int64_t>{77});
  EXPECT_EQ(shorter->segment_bytes, longest->segment_bytes);
  for (size_t i = 0; i < longest->sites.size(); ++i) EXPECT_EQ(shorter->sites[i].data, longest->sites[i].data);
  const auto session = vm::Session::create(executable);
  try {
    session->run("main", std::vector<Value>{row_of(513, 7), row_of(513, 1)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::ShapeMismatch);
    EXPECT_STREQ(
        error.what(),
        "@main: dimension n is 513, the executable was compiled for at most 512; compile it with --bound n=513");
  }
  run_once(*session, kLongest);
}

// The mean over 500 random lengths: from one to the next, what the caches hold differs by as much as may leak in
// 10,000.
double mean_resident_bytes(vm::Session& session, std::mt19937& random) {
  constexpr int kSamples = 50;
  double sum = 0;
  for (int i = 0; i < kSamples; ++i) {
    run_lengths(session, random, 10);
    sum += static_cast<double>(resident_bytes());
  }
  return sum / kSamples;
}

// oneDNN's cache belongs to the process.
class PrimitiveCache {
 public:
  explicit PrimitiveCache(size_t capacity) : before_(primitive_cache_capacity()) {
    set_primitive_cache_capacity(capacity);
  }
  ~PrimitiveCache() { set_primitive_cache_capacity(before_); }
  PrimitiveCache(const PrimitiveCache&) = delete;
  PrimitiveCache& operator=(const PrimitiveCache&) = delete;

 private:
  size_t before_;
};

// Under ./dev soak: 10,000 lengths after the caches of plans and kernels are full, with oneDNN's cache as it is and
// bounded as the tool bounds it.
TEST(Lengths, ResidentMemoryStaysWhereItIs) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep what is freed";
  if (std::getenv("INGOT_SOAK") == nullptr) return;
  for (const size_t capacity : {size_t{64}, primitive_cache_capacity()})
    for (const std::string options : {"", "--bound n=512"}) {
      const auto executable = encoder("2 64 4", options);
      if (executable == nullptr) GTEST_SKIP() << "needs Debian's python3-onnx";
      const PrimitiveCache cache(capacity);
      const auto session = vm::Session::create(executable);
      std::mt19937 random(11);
      run_once(*session, kLongest);
      run_lengths(*session, random, 2'500);
      const double before = mean_resident_bytes(*session, random);
      run_lengths(*session, random, 9'500);
      const double after = mean_resident_bytes(*session, random);
      fmt::print("10,000 lengths {}, {} primitives: {:.2f} MB, then {:.2f} MB\n", options, capacity, before / 1e6,
                 after / 1e6);
      EXPECT_LT(after, before * 1.01) << options << ", " << capacity;
    }
}

TEST(Lengths, PrimitiveCacheIsBoundedOnRequest) {
  const size_t before = primitive_cache_capacity();
  {
    const PrimitiveCache cache(7);
    EXPECT_EQ(primitive_cache_capacity(), 7u);
  }
  EXPECT_EQ(primitive_cache_capacity(), before);
  EXPECT_THROW(set_primitive_cache_capacity(size_t{1} << 40), Error);
}

}  // namespace
}  // namespace ingot
