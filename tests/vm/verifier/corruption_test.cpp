#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "tests/vm/executable/programs.h"
#include "vm/executable/layout.h"
#include "vm/executable/reader.h"
#include "vm/executable/text.h"
#include "vm/executable/writer.h"
#include "vm/verifier/verifier.h"

namespace ingot::vm {
namespace {

// Reads and verifies; what is accepted comes back from its text where `text_returns`. Nothing but CorruptFile and
// Unsupported may come of it. True where the file was accepted.
bool accepted(std::span<const std::byte> file, bool text_returns) {
  try {
    const Program program = read_program(copy_bytes(file));
    verify(program);
    const std::string text = disassemble(program);
    if (text_returns) {
      EXPECT_TRUE(write_program(assemble(text)) == write_program(program)) << text;
    }
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::CorruptFile || error.code() == ErrorCode::Unsupported)
        << error.label() << ": " << error.what();
    return false;
  }
}

TEST(Corruption, SingleBytesBehindRightChecksums) {
  const std::vector<std::byte> good = write_program(assemble(test::kEverything));
  ASSERT_TRUE(accepted(good, true));
  // PrimFuncs' text shows names as they are, and only such numbers as a program can write.
  const auto sections = read_layout(good).sections;
  const auto prim_funcs = std::ranges::find(sections, "prim_funcs", &SectionInfo::name);
  size_t survivors = 0;
  std::mt19937 random(3);
  for (size_t at = sizeof(format::FileHeader); at < good.size(); ++at) {
    const auto old = std::to_integer<unsigned>(good[at]);
    for (const unsigned value : {old ^ (1u << random() % 8), 0u, old + 1, old - 1}) {
      std::vector<std::byte> file = good;
      file[at] = static_cast<std::byte>(value);
      reseal(file);
      const bool in_prim_funcs = at >= prim_funcs->offset && at < prim_funcs->offset + prim_funcs->bytes;
      survivors += accepted(file, !in_prim_funcs) ? 1 : 0;
    }
  }
  EXPECT_GT(survivors, 100u);
}

TEST(Corruption, RandomUnitsOfCode) {
  const Program good = assemble(test::kEverything);
  std::mt19937 random(4);
  size_t survivors = 0;
  for (int round = 0; round < 8000; ++round) {
    Program program = good;
    for (size_t i = 0; i < 1 + random() % 3; ++i) {
      std::vector<CodeUnit>& code = program.functions[random() % program.functions.size()].code;
      code[random() % code.size()] = static_cast<CodeUnit>(random() % (round % 2 == 0 ? 12 : 400));
    }
    try {
      verify(program);
      ++survivors;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::CorruptFile) << error.what();
    }
  }
  EXPECT_GT(survivors, 100u);
}

}  // namespace
}  // namespace ingot::vm
