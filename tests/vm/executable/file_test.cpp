#include "runtime/base/file.h"

#include <cstring>
#include <filesystem>
#include <random>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "tests/vm/executable/programs.h"
#include "vm/executable/format.h"
#include "vm/executable/layout.h"
#include "vm/executable/reader.h"
#include "vm/executable/text.h"
#include "vm/executable/writer.h"

namespace ingot::vm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::byte>& everything() {
  static const std::vector<std::byte> file = write_program(assemble(test::kEverything));
  return file;
}

// What reading says: "ok", or the error. Whatever the bytes are, nothing else may happen.
std::string read(std::span<const std::byte> bytes) {
  try {
    read_program(copy_bytes(bytes));
    return "ok";
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::CorruptFile || error.code() == ErrorCode::Unsupported) << error.what();
    return fmt::format("{}: {}", error.label(), error.what());
  }
}

template <typename T>
std::vector<std::byte> with(size_t offset, T value, bool sealed = true) {
  std::vector<std::byte> file = everything();
  std::memcpy(file.data() + offset, &value, sizeof value);
  if (sealed) reseal(file);
  return file;
}

size_t entry_at(format::Section id) {
  const FileLayout layout = read_layout(everything());
  for (size_t i = 0; i < layout.sections.size(); ++i)
    if (layout.sections[i].id == static_cast<uint32_t>(id))
      return sizeof(format::FileHeader) + i * sizeof(format::SectionEntry);
  return 0;
}

TEST(ExecutableFile, KeepsTheProgram) {
  const Program program = read_program(copy_bytes(everything()));
  EXPECT_EQ(disassemble(program), disassemble(assemble(test::kEverything)));
  ASSERT_EQ(program.constants[0].bytes.size(), 24u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(program.constants[0].bytes.data()) % format::kAlignment, 0u);
  EXPECT_EQ(program.functions[0].spans.size(), 4u);
  EXPECT_EQ(program.metadata[0].first, "producer");
}

TEST(ExecutableFile, HasSectionsInOrder) {
  const FileLayout layout = read_layout(everything());
  EXPECT_EQ(layout.version, format::kVersion);
  ASSERT_EQ(layout.sections.size(), 12u);
  EXPECT_EQ(layout.sections.front().name, "strings");
  EXPECT_EQ(layout.sections.back().name, "data");
  for (const SectionInfo& section : layout.sections) EXPECT_EQ(section.offset % format::kAlignment, 0u);
}

TEST(ExecutableFile, RejectsEveryTruncation) {
  for (size_t size = 0; size < everything().size(); ++size)
    EXPECT_THAT(read(std::span(everything()).first(size)), StartsWith("CorruptFile: ")) << size;
  for (size_t size = sizeof(format::FileHeader); size < everything().size(); ++size) {
    std::vector<std::byte> file(everything().begin(), everything().begin() + static_cast<ptrdiff_t>(size));
    std::memcpy(file.data() + offsetof(format::FileHeader, bytes), &size, sizeof size);
    reseal(file);
    EXPECT_NE(read(file), "ok") << size;
  }
}

TEST(ExecutableFile, FindsEveryFlippedByte) {
  for (size_t i = 0; i < everything().size(); ++i) {
    std::vector<std::byte> file = everything();
    file[i] ^= std::byte{0x55};
    EXPECT_NE(read(file), "ok") << i;
  }
}

TEST(ExecutableFile, SurvivesCorruptionBehindRightChecksums) {
  std::mt19937 random(7);
  size_t accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> file = everything();
    const size_t changes = 1 + random() % 3;
    for (size_t i = 0; i < changes; ++i) {
      const size_t at = random() % file.size();
      static constexpr unsigned kValues[] = {0, 1, 2, 0x7f, 0x80, 0xff};
      file[at] = round % 2 == 0 ? static_cast<std::byte>(kValues[random() % 6]) : static_cast<std::byte>(random());
    }
    reseal(file);
    accepted += read(file) == "ok" ? 1 : 0;
  }
  EXPECT_GT(accepted, 100u);
}

TEST(ExecutableFile, ErrorsSayWhereAndHowMuch) {
  const size_t code = entry_at(format::Section::Code);
  const size_t bytes = everything().size();
  EXPECT_EQ(read(with(code + offsetof(format::SectionEntry, bytes), uint64_t{1} << 20)),
            fmt::format("CorruptFile: section 'code' ends at byte {}, the file has {}",
                        (1 << 20) + read_layout(everything()).sections[4].offset, bytes));
  EXPECT_THAT(read(with(code + offsetof(format::SectionEntry, offset), uint64_t{UINT64_MAX})),
              HasSubstr("section 'code' ends at byte"));
  EXPECT_THAT(read(with(bytes - 1, uint8_t{77}, false)), HasSubstr("section 'data' has checksum"));
  EXPECT_THAT(read(with(0, uint8_t{77})), HasSubstr("no executable of Ingot"));
  EXPECT_THAT(read(with(offsetof(format::FileHeader, bytes), uint64_t{5})),
              HasSubstr(fmt::format("the header speaks of 5 bytes, the file has {}", bytes)));
  EXPECT_EQ(read({}), "CorruptFile: the file has 0 bytes, a header takes 64");
}

TEST(ExecutableFile, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(read(with(offsetof(format::FileHeader, version), uint32_t{9})),
            "Unsupported: the file has format version 9, this build reads version 0");
  EXPECT_EQ(read(with(offsetof(format::FileHeader, features), uint64_t{4})),
            "Unsupported: the file needs feature number 2, which this build does not have");
  const size_t data = entry_at(format::Section::Data);
  EXPECT_EQ(read(with(data, uint32_t{40})), "Unsupported: the file needs section 40, which this build does not know");
}

TEST(ExecutableFile, SkipsUnknownOptionalSections) {
  std::vector<std::byte> file = everything();
  file.resize((file.size() + 63) / 64 * 64);
  format::FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  const size_t table = sizeof header + header.sections * sizeof(format::SectionEntry);
  ASSERT_EQ(table % 64, 0u) << "the new entry must have the padding behind the table";
  // An odd number of entries leaves room; with an even one the sections would have to move.
  const std::vector<std::byte> more(64);
  file.insert(file.begin() + static_cast<ptrdiff_t>(table), more.begin(), more.end());
  for (uint32_t i = 0; i < header.sections; ++i) {
    format::SectionEntry entry;
    std::byte* at = file.data() + sizeof header + i * sizeof entry;
    std::memcpy(&entry, at, sizeof entry);
    entry.offset += 64;
    std::memcpy(at, &entry, sizeof entry);
  }
  const format::SectionEntry extra{200, 0, file.size(), 3, 0};
  std::memcpy(file.data() + table, &extra, sizeof extra);
  file.resize(file.size() + 3);
  ++header.sections;
  header.bytes = file.size();
  std::memcpy(file.data(), &header, sizeof header);
  reseal(file);
  EXPECT_EQ(read(file), "ok");
}

TEST(ExecutableFile, IsSavedAndLoaded) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("ingot_file_test_{}.ingot", ::getpid());
  const Program program = assemble(test::kEverything);
  save_program(program, path);
  for (const bool copy : {false, true}) EXPECT_EQ(write_program(load_program(path, copy)), everything()) << copy;
  std::filesystem::resize_file(path, 100);
  try {
    load_program(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith(path.string() + ": the header speaks of"));
  }
  std::filesystem::remove(path);
  EXPECT_THROW(load_program(path), Error);
}

}  // namespace
}  // namespace ingot::vm
