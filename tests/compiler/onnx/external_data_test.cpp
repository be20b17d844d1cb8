#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/onnx/tensor.h"
#include "tests/compiler/onnx/model.h"

namespace ingot::onnx_import::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("ingot_external_" + std::to_string(getpid()));
    folder_ = root_ / "model";
    fs::create_directories(folder_ / "weights");
    std::ofstream(root_ / "outside.bin", std::ios::binary) << std::string(64, 'o');
    std::ofstream out(folder_ / "weights/w.bin", std::ios::binary);
    for (int i = 0; i < 64; ++i) {
      const auto value = static_cast<float>(i);
      out.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  static onnx::TensorProto tensor(const std::string& location, const std::string& offset = "",
                                  const std::string& length = "") {
    onnx::TensorProto tensor;
    tensor.set_name("w");
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(16);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto add = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    return tensor;
  }

  std::string error(const onnx::TensorProto& tensor) const {
    try {
      read_tensor(tensor, folder_.string());
    } catch (const Error& error) {
      return std::string(error.label()) + ": " + error.what();
    }
    return "";
  }

  fs::path root_, folder_;
};

TEST_F(ExternalData, IsMappedWhereItLies) {
  const auto w = read_tensor(tensor("weights/w.bin", "64", "64"), folder_.string());
  EXPECT_TRUE(w->read_only);
  EXPECT_EQ(w->elements<float>()[0], 16);
  EXPECT_EQ(w->elements<float>()[15], 31);
}

TEST_F(ExternalData, AtAnOddPlaceIsCopied) {
  const auto w = read_tensor(tensor("weights/w.bin", "2", "64"), folder_.string());
  EXPECT_EQ(w->bytes, 64u);
}

TEST_F(ExternalData, StaysInTheFolder) {
  EXPECT_THAT(error(tensor("../outside.bin")), HasSubstr("NotAllowed"));
  EXPECT_THAT(error(tensor("weights/../../outside.bin")), HasSubstr("NotAllowed"));
  EXPECT_THAT(error(tensor((root_ / "outside.bin").string())), HasSubstr("NotAllowed"));
  EXPECT_THAT(error(tensor("")), HasSubstr("NotAllowed"));
  try {
    read_tensor(tensor("weights/w.bin"));
    FAIL() << "a model without a folder has no other files";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotAllowed);
  }
}

TEST_F(ExternalData, FollowsNoLinks) {
  fs::create_symlink(root_ / "outside.bin", folder_ / "link.bin");
  fs::create_directory_symlink(root_, folder_ / "up");
  EXPECT_THAT(error(tensor("link.bin")), HasSubstr("NotAllowed"));
  EXPECT_THAT(error(tensor("up/outside.bin")), HasSubstr("NotAllowed"));
}

TEST_F(ExternalData, HasTheSizeThatIsSaid) {
  EXPECT_THAT(error(tensor("weights/w.bin", "200")), HasSubstr("CorruptFile"));
  EXPECT_THAT(error(tensor("weights/w.bin", "18446744073709551615", "64")), HasSubstr("CorruptFile"));
  EXPECT_THAT(error(tensor("weights/w.bin", "0", "18446744073709551615")), HasSubstr("CorruptFile"));
  EXPECT_THAT(error(tensor("weights/w.bin", "0", "60")), HasSubstr("needs 64 bytes, the file has 60"));
  EXPECT_THAT(error(tensor("weights/w.bin", "-1")), HasSubstr("'-1' is no number of bytes"));
  EXPECT_THAT(error(tensor("weights/none.bin")), HasSubstr("Io"));
  EXPECT_THAT(error(tensor("weights")), HasSubstr("Io"));
}

TEST_F(ExternalData, MayLieBehindTwoGigabytes) {
  const fs::path path = folder_ / "large.bin";
  std::ofstream(path).put('x');
  const uintmax_t size = uintmax_t{3} << 30;
  fs::resize_file(path, size);
  {
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    const float value = 7;
    out.seekp(static_cast<std::streamoff>(size - 64));
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  const auto w = read_tensor(tensor("large.bin", std::to_string(size - 64), "64"), folder_.string());
  EXPECT_EQ(w->elements<float>()[0], 7);
}

}  // namespace
}  // namespace ingot::onnx_import::test
