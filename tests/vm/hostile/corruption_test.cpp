// Executables with changed bytes are rejected, or run to a value or an error: never anything else. The suite takes a
// sample of the changes; INGOT_SOAK=1 makes all of them (`./dev soak asan -R hostile`).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include "tests/vm/golden/programs.h"
#include "tests/vm/hostile/run_bytes.h"
#include "vm/executable/layout.h"
#include "vm/executable/writer.h"

namespace ingot::vm {
namespace {

using Bytes = std::vector<std::byte>;

struct Sample {
  std::string name;
  Bytes bytes;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> made;
    for (const test::NamedProgram& golden : test::golden_programs())
      made.push_back({golden.name, write_program(golden.program)});
    return made;
  }();
  return all;
}

bool soaking() { return std::getenv("INGOT_SOAK") != nullptr; }

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

size_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) << 10;
}

// What became of changed files. Every one is held to its limits: no error of ours, no second of processor time, and in
// the end no more memory than the samples took and the limit allows.
class Tally {
 public:
  explicit Tally(const char* what) : what_(what) {}
  ~Tally() {
    std::printf("%s: %zu files, %zu loaded, %zu values, %zu faults, slowest %.3f s (%s), peak grew by %zu MiB\n", what_,
                files_, loaded_, runs_, faults_, slowest_, slowest_name_.c_str(), grown() >> 20);
    EXPECT_LE(grown(), size_t{1} << 29);
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void run(const Sample& sample, std::span<const std::byte> bytes, std::string_view change) {
    const double start = cpu_seconds();
    const test::Outcome outcome = test::run_bytes(bytes, [&](const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::Internal) << sample.name << ", " << change << ": " << error.what();
    });
    const double seconds = cpu_seconds() - start;
    EXPECT_LT(seconds, 1.0) << sample.name << ", " << change;
    if (seconds > slowest_) {
      slowest_ = seconds;
      slowest_name_ = fmt::format("{}, {}", sample.name, change);
    }
    ++files_;
    loaded_ += outcome.loaded ? 1 : 0;
    runs_ += outcome.runs;
    faults_ += outcome.faults;
  }
  size_t loaded() const { return loaded_; }

 private:
  size_t grown() const { return peak_bytes() - peak_; }

  const char* what_;
  size_t peak_ = peak_bytes();
  size_t files_ = 0;
  size_t loaded_ = 0;
  size_t runs_ = 0;
  size_t faults_ = 0;
  double slowest_ = 0;
  std::string slowest_name_ = "none";
};

TEST(Hostile, SamplesRun) {
  EXPECT_EQ(samples().size(), 12u);
  for (const Sample& sample : samples()) {
    const test::Outcome outcome = test::run_bytes(sample.bytes, [](const Error&) {});
    EXPECT_TRUE(outcome.loaded) << sample.name;
    EXPECT_GT(outcome.runs + outcome.faults, 0u) << sample.name;
  }
}

// Eight bit flips, 00, FF, one more and one less, at every offset; the suite takes one of 128.
TEST(Hostile, SingleBytesBehindRightChecksums) {
  Tally tally("single bytes");
  std::mt19937 random(11);
  for (const Sample& sample : samples()) {
    Bytes bytes = sample.bytes;
    for (size_t at = 0; at < sample.bytes.size(); ++at) {
      const auto old = std::to_integer<unsigned>(sample.bytes[at]);
      std::array<unsigned, 12> values{0, 255, (old + 1) & 255, (old - 1) & 255};
      for (unsigned bit = 0; bit < 8; ++bit) values[4 + bit] = old ^ (1u << bit);
      for (const unsigned value : values) {
        if (value == old || (!soaking() && random() % 128 != 0)) continue;
        bytes = sample.bytes;
        bytes[at] = static_cast<std::byte>(value);
        reseal(bytes);
        tally.run(sample, bytes, fmt::format("byte {} := {}", at, value));
      }
    }
  }
  EXPECT_GT(tally.loaded(), 100u);
}

// Every length; with the header's size and checksums as they were, and made right.
TEST(Hostile, Truncations) {
  Tally tally("truncations");
  for (const Sample& sample : samples()) {
    for (size_t length = 0; length < sample.bytes.size(); length += soaking() ? 1 : 7) {
      Bytes bytes(sample.bytes.begin(), sample.bytes.begin() + static_cast<ptrdiff_t>(length));
      tally.run(sample, bytes, fmt::format("cut at {}", length));
      if (length < sizeof(format::FileHeader)) continue;
      const uint64_t size = length;
      std::memcpy(bytes.data() + offsetof(format::FileHeader, bytes), &size, sizeof size);
      reseal(bytes);
      tally.run(sample, bytes, fmt::format("cut at {}, size made right", length));
    }
  }
  EXPECT_EQ(tally.loaded(), 0u);
}

// Several bytes at once; one file of eight keeps its wrong checksums. A million of them in the soak test.
TEST(Hostile, RandomChanges) {
  Tally tally("random changes");
  std::mt19937 random(12);
  const size_t rounds = soaking() ? 100'000 : 800;
  for (const Sample& sample : samples())
    for (size_t round = 0; round < rounds; ++round) {
      Bytes bytes = sample.bytes;
      const size_t changes = 1 + random() % 4;
      for (size_t i = 0; i < changes; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      if (round % 8 != 0) reseal(bytes);
      tally.run(sample, bytes, fmt::format("round {}", round));
    }
  EXPECT_GT(tally.loaded(), 100u);
}

// Changes that often survive the verifier: a unit of code takes a small number.
TEST(Hostile, ChangedCode) {
  Tally tally("changed code");
  std::mt19937 random(13);
  const size_t rounds = soaking() ? 20'000 : 800;
  for (const Sample& sample : samples()) {
    const FileLayout layout = read_layout(sample.bytes);
    const auto code = std::ranges::find(layout.sections, "code", &SectionInfo::name);
    for (size_t round = 0; round < rounds; ++round) {
      Bytes bytes = sample.bytes;
      const size_t at = code->offset + random() % code->bytes / 2 * 2;
      const auto unit = static_cast<uint16_t>(random() % (round % 2 == 0 ? 10 : kOpcodeCount));
      std::memcpy(bytes.data() + at, &unit, sizeof unit);
      reseal(bytes);
      tally.run(sample, bytes, fmt::format("unit at byte {} := {}", at, unit));
    }
  }
  EXPECT_GT(tally.loaded(), 100u);
}

}  // namespace
}  // namespace ingot::vm
