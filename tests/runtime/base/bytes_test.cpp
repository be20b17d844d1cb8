#include "runtime/base/bytes.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

template <typename F>
std::string error_of(F&& run) {
  try {
    run();
    return "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::CorruptFile);
    return error.what();
  }
}

TEST(Bytes, WhatIsWrittenIsRead) {
  ByteWriter writer;
  writer.put(uint8_t{1});
  writer.put(int64_t{-2});
  writer.put(1.5);
  writer.put_string("text");
  writer.align(8);
  writer.put(uint32_t{0});
  writer.patch(writer.size() - 4, uint32_t{7});
  EXPECT_EQ(writer.size(), 36u);

  ByteReader reader(writer.bytes(), "x");
  EXPECT_EQ(reader.get<uint8_t>(), 1);
  EXPECT_EQ(reader.get<int64_t>(), -2);
  EXPECT_EQ(reader.get<double>(), 1.5);
  EXPECT_EQ(reader.get_string(), "text");
  reader.align(8);
  EXPECT_EQ(reader.get<uint32_t>(), 7u);
  EXPECT_NO_THROW(reader.expect_done());
}

TEST(Bytes, EveryReadIsChecked) {
  const std::byte bytes[6] = {std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
  const auto reader = [&] { return ByteReader(bytes, "x"); };
  EXPECT_EQ(error_of([&] { reader().get<uint64_t>(); }), "x ends at byte 6, but 8 bytes are wanted at byte 0");
  EXPECT_EQ(error_of([&] { reader().get_string(); }), "x ends at byte 6, but 4294967295 bytes are wanted at byte 4");
  EXPECT_EQ(error_of([&] { reader().get_bytes(SIZE_MAX); }),
            "x ends at byte 6, but 18446744073709551615 bytes are wanted at byte 0");
  EXPECT_EQ(error_of([&] { reader().get_count(2); }), "x counts 4294967295 entries at byte 0, but only 2 bytes follow");
  EXPECT_EQ(error_of([&] { reader().expect_done(); }), "x has 6 bytes, of which 6 are not used");
  EXPECT_EQ(error_of([&] {
              auto r = reader();
              r.get<uint8_t>();
              r.align(16);
            }),
            "x ends at byte 6, but 15 bytes are wanted at byte 1");
}

}  // namespace
}  // namespace ingot
