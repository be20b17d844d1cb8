#include "runtime/tensor/npz.h"

#include <filesystem>

#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/tensor/tensor_text.h"

namespace ingot {
namespace {

class Npz : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("ingot_npz_test_{}.npz", ::getpid());
};

TEST_F(Npz, RoundTrips) {
  const NamedTensor tensors[] = {{"images", parse_tensor("2x2xu8=1 2 3 4")}, {"labels", parse_tensor("2xi64=0 9")}};
  write_npz(path_, tensors);
  const auto back = read_npz(path_);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].name, "images");
  EXPECT_EQ(tensor_text(*back[0].tensor), "2x2xu8=1 2 3 4");
  EXPECT_EQ(back[1].name, "labels");
  EXPECT_EQ(tensor_text(*read_npz(path_, "labels")), "2xi64=0 9");
}

TEST_F(Npz, MissingNamesListTheOthers) {
  const NamedTensor tensors[] = {{"a", parse_tensor("f32=1")}, {"b", parse_tensor("f32=2")}};
  write_npz(path_, tensors);
  try {
    read_npz(path_, "c");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_EQ(error.what(), path_.string() + " has no array 'c'; it has: a, b");
  }
}

TEST_F(Npz, ErrorsNameTheEntry) {
  const NamedTensor tensors[] = {{"a", parse_tensor("f32=1")}};
  write_npz(path_, tensors);
  const FileBytes file = read_file(path_);
  std::vector<std::byte> bytes(file.bytes.begin(), file.bytes.end());
  bytes[150] ^= std::byte{1};
  try {
    decode_npz(bytes, "x.npz");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::CorruptFile);
    EXPECT_EQ(std::string(error.what()).substr(0, 38), "x.npz: entry 'a.npy' has the checksum ");
  }
}

}  // namespace
}  // namespace ingot
