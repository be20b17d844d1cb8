#include "runtime/tensor/npy.h"

#include <cstring>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor_text.h"

namespace ingot {
namespace {

std::vector<std::byte> npy(std::string header, const std::string& data, int major = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  const size_t size = header.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) text += static_cast<char>(size >> (8 * i) & 0xff);
  text += header + data;
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string read(const std::vector<std::byte>& bytes) { return tensor_text(*decode_npy(bytes, "x.npy")); }

std::string error_of(const std::vector<std::byte>& bytes, ErrorCode code = ErrorCode::CorruptFile) {
  try {
    decode_npy(bytes, "x.npy");
    return "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
}

const std::string kSix("\1\2\3\4\5\6", 6);

TEST(Npy, EveryDTypeRoundTrips) {
  for (const std::string_view text :
       {"2x3xf32=1 2 3 4 5 6", "f64=1.5", "3xbool=0 1 1", "2xi8=-1 1", "2xi16=-1 1", "2xi32=-1 1", "2xi64=-1 1",
        "2xu8=255 1", "2xu16=65535 1", "2xu32=1 2", "2xu64=1 2", "2xf16=0.5 inf", "2xbf16=0.5 -2",
        "0x3xi64=", "1x1x1x2xf32=nan -0"}) {
    const auto bytes = encode_npy(*parse_tensor(text));
    EXPECT_EQ(read(bytes), text);
    EXPECT_EQ((bytes.size() - parse_tensor(text)->bytes) % 64, 0u);
  }
}

TEST(Npy, WritesWhatNumPyWrites) {
  const auto bytes = encode_npy(*parse_tensor("3xf32=1 2 3"));
  std::string text(reinterpret_cast<const char*>(bytes.data()), 128);
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(text.substr(10), "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" + std::string(60, ' ') + "\n");
}

TEST(Npy, ReadsEveryVersionAndSpelling) {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n";
  for (const int major : {1, 2, 3}) EXPECT_EQ(read(npy(header, kSix, major)), "2x3xu8=1 2 3 4 5 6");
  EXPECT_EQ(read(npy("{\"shape\":(2L,3L),\"fortran_order\":False,\"descr\":\">u1\"}", kSix)), "2x3xu8=1 2 3 4 5 6");
  EXPECT_EQ(read(npy("{'descr': '=i2', 'fortran_order': False, 'shape': (3,)}", kSix)), "3xi16=513 1027 1541");
  EXPECT_EQ(read(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (6,)}", std::string("\0\1\2\x80\0\1", 6))),
            "6xbool=0 1 1 1 0 1");
}

TEST(Npy, ReadsFortranOrder) {
  EXPECT_EQ(read(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", kSix)), "2x3xu8=1 3 5 2 4 6");
  EXPECT_EQ(read(npy("{'descr': '<u2', 'fortran_order': True, 'shape': (1, 3)}", kSix)), "1x3xu16=513 1027 1541");
  EXPECT_EQ(read(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 3, 2)}", kSix)), "1x3x2xu8=1 4 2 5 3 6");
  EXPECT_EQ(read(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 0)}", "")), "2x0xf32=");
}

TEST(Npy, ErrorsNameThePlace) {
  EXPECT_EQ(error_of({}), "x.npy ends at byte 0, but 6 bytes are wanted at byte 0");
  EXPECT_EQ(error_of(std::vector<std::byte>(20)), "x.npy is not a .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(error_of(npy("{}", "", 4), ErrorCode::Unsupported),
            "x.npy: version 4.0 of the .npy format; 1.0, 2.0 and 3.0 are known");
  EXPECT_EQ(error_of(npy("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "1234"), ErrorCode::Unsupported),
            "x.npy: the elements are big-endian ('>f4'); convert them, as with a.astype('<f4')");
  EXPECT_EQ(error_of(npy("{'descr': '<c8', 'fortran_order': False, 'shape': ()}", ""), ErrorCode::Unsupported),
            "x.npy: elements of type '<c8' have no dtype here; booleans, integers and floats do");
  EXPECT_EQ(error_of(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", ""), ErrorCode::Unsupported),
            "x.npy: records have no dtype here");
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", kSix)),
            "x.npy: shape (3,) of float32 needs 12 bytes of elements, but 6 follow the header");
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000000000000)}", "")),
            "x.npy: shape (1000000000000, 1000000000000) has more than 2^63 - 1 elements");
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'shape': (3,)}", "")),
            "x.npy: character 31 of the header: one of 'descr', 'fortran_order', 'shape' is missing");
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'descr': '<f4'}", "")),
            "x.npy: character 25 of the header: key 'descr' is unknown or comes twice");
}

TEST(Npy, EveryTruncationAndEveryFlippedByteIsRejectedOrRead) {
  const auto whole = encode_npy(*parse_tensor("2x3xi16=1 2 3 4 5 6"));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(error_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "no error");
  for (size_t at = 0; at < whole.size(); ++at)
    for (unsigned flip = 1; flip < 256; ++flip) {
      auto bytes = whole;
      bytes[at] ^= static_cast<std::byte>(flip);
      try {
        EXPECT_LE(decode_npy(bytes, "x.npy")->bytes, 12u);
      } catch (const Error&) {
      }
    }
}

TEST(Npy, FilesRoundTrip) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("ingot_npy_test_{}.npy", ::getpid());
  write_npy(path, *parse_tensor("2xf32=1 2"));
  EXPECT_EQ(tensor_text(*read_npy(path)), "2xf32=1 2");
  std::filesystem::remove(path);
  try {
    read_npy(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Io);
  }
}

TEST(Npy, StringsCannotBeWritten) { EXPECT_THROW(encode_npy(*parse_tensor("str=\"a\"")), Error); }

}  // namespace
}  // namespace ingot
