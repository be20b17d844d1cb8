// Executables with changed bytes are rejected, or run to a value or an error: never anything else.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "runtime/base/file.h"
#include "tests/vm/executable/programs.h"
#include "tests/vm/hostile/run_bytes.h"
#include "vm/executable/layout.h"
#include "vm/executable/text.h"
#include "vm/executable/writer.h"

namespace ingot::vm {
namespace {

struct Sample {
  std::string name;
  std::vector<std::byte> bytes;
};

// What the compiler made of small programs, in text form, and the program with something of everything.
std::vector<Sample> samples() {
  std::vector<Sample> all{{"everything", write_program(assemble(test::kEverything))}};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/vm/hostile/programs"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& file : files) {
    const FileBytes text = read_file(file);
    all.push_back({file.stem().string(),
                   write_program(assemble({reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()}))});
  }
  return all;
}

void expect_no_internal(const Error& error) { EXPECT_NE(error.code(), ErrorCode::Internal) << error.what(); }

// Networks take longer to load. The soak test does more.
int rounds(const Sample& sample) {
  const int base = sample.bytes.size() > 4096 ? 300 : 3400;
  return std::getenv("INGOT_SOAK") != nullptr ? 20 * base : base;
}

TEST(Hostile, SamplesRun) {
  for (const Sample& sample : samples()) {
    const test::Outcome outcome = test::run_bytes(sample.bytes, [](const Error&) {});
    EXPECT_TRUE(outcome.loaded) << sample.name;
    EXPECT_GT(outcome.runs + outcome.faults, 0u) << sample.name;
  }
}

TEST(Hostile, CorruptedBytesAreRejectedOrRun) {
  std::mt19937 random(11);
  size_t loaded = 0;
  for (const Sample& sample : samples())
    for (int round = 0; round < rounds(sample); ++round) {
      std::vector<std::byte> bytes = sample.bytes;
      const size_t changes = 1 + (round % 4 == 0 ? random() % 3 : 0);
      for (size_t i = 0; i < changes; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      if (round % 8 != 0) reseal(bytes);
      loaded += test::run_bytes(bytes, expect_no_internal).loaded ? 1 : 0;
    }
  EXPECT_GT(loaded, 100u);
}

// Changes that often survive the verifier: a unit of code takes a small number.
TEST(Hostile, ChangedCodeIsRejectedOrRuns) {
  std::mt19937 random(12);
  size_t loaded = 0;
  for (const Sample& sample : samples()) {
    const FileLayout layout = read_layout(sample.bytes);
    const auto code = std::ranges::find(layout.sections, "code", &SectionInfo::name);
    for (int round = 0; round < rounds(sample); ++round) {
      std::vector<std::byte> bytes = sample.bytes;
      const size_t at = code->offset + random() % code->bytes / 2 * 2;
      const auto unit = static_cast<uint16_t>(random() % (round % 2 == 0 ? 10 : kOpcodeCount));
      std::memcpy(bytes.data() + at, &unit, sizeof unit);
      reseal(bytes);
      loaded += test::run_bytes(bytes, expect_no_internal).loaded ? 1 : 0;
    }
  }
  EXPECT_GT(loaded, 100u);
}

}  // namespace
}  // namespace ingot::vm
