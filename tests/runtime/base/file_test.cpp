#include "runtime/base/file.h"

#include <filesystem>
#include <string>
#include <string_view>

#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

class File : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void save(std::string_view text) {
    save_file(path_, [&](const ByteSink& sink) {
      for (const char& c : text) sink(std::as_bytes(std::span(&c, 1)));
    });
  }
  static std::string text_of(const FileBytes& file) {
    return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("ingot_file_test_" + std::to_string(::getpid()));
  std::filesystem::path path_ = folder_ / "file";
};

TEST_F(File, WhatIsSavedIsReadAndMapped) {
  for (const std::string_view text : {"some text", ""}) {
    save(text);
    EXPECT_EQ(text_of(read_file(path_)), text);
    EXPECT_EQ(text_of(map_file(path_)), text);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read_file(path_).bytes.data()) % 64, 0u);
  }
}

TEST_F(File, AFailedSaveLeavesTheOldFileAndNothingElse) {
  save("old");
  EXPECT_THROW(save_file(path_,
                         [](const ByteSink& sink) {
                           sink(std::as_bytes(std::span("new", 3)));
                           fail(ErrorCode::InvalidArgument, "no");
                         }),
               Error);
  EXPECT_EQ(text_of(read_file(path_)), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(File, ErrorsNameThePathAndTheReason) {
  for (const auto& open : {map_file, read_file}) {
    try {
      open(path_);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Io);
      EXPECT_EQ(error.what(), path_.string() + ": cannot open: No such file or directory");
    }
    EXPECT_THROW(open(folder_), Error);
  }
  EXPECT_THROW(save_file(folder_ / "missing" / "file", [](const ByteSink&) {}), Error);
}

}  // namespace
}  // namespace ingot
