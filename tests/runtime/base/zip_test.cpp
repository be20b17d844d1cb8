#include "runtime/base/zip.h"

#include <string>

#include <zlib.h>

#include <gtest/gtest.h>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/base/zip_format.h"

namespace ingot {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Bytes deflated(const Bytes& plain) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, plain.size()));
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct Spec {
  std::string name;
  Bytes plain;
  uint16_t method = zip::kDeflated;
  bool zip64 = false;
  uint16_t flags = 0;
  // Lies about the unpacked size where not 0.
  uint64_t claimed = 0;
};

// An archive as other programs write them.
Bytes archive_of(const std::vector<Spec>& specs, bool zip64_end = false, std::string_view comment = "") {
  ByteWriter out;
  ByteWriter directory;
  for (const Spec& spec : specs) {
    const Bytes packed = spec.method == zip::kDeflated ? deflated(spec.plain) : spec.plain;
    const auto crc =
        static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(spec.plain.data()), spec.plain.size()));
    const uint64_t plain_size = spec.claimed != 0 ? spec.claimed : spec.plain.size();
    const auto offset = out.size();
    const auto common = [&](ByteWriter& writer, size_t extra) {
      writer.put(uint16_t{45});
      writer.put(spec.flags);
      writer.put(spec.method);
      writer.put(uint32_t{0});
      writer.put(crc);
      writer.put(spec.zip64 ? zip::kSee64 : static_cast<uint32_t>(packed.size()));
      writer.put(spec.zip64 ? zip::kSee64 : static_cast<uint32_t>(plain_size));
      writer.put(static_cast<uint16_t>(spec.name.size()));
      writer.put(static_cast<uint16_t>(extra));
    };
    out.put(zip::kLocalHeader);
    common(out, 5);
    out.put_bytes(bytes_of(spec.name));
    out.put_bytes(bytes_of(std::string("\x99\x99\x01\0x", 5)));
    out.put_bytes(packed);
    directory.put(zip::kDirectoryHeader);
    directory.put(uint16_t{45});
    common(directory, spec.zip64 ? 28 : 0);
    directory.put(uint16_t{2});
    directory.put(uint64_t{0});
    directory.put(spec.zip64 ? zip::kSee64 : static_cast<uint32_t>(offset));
    directory.put_bytes(bytes_of(spec.name));
    if (spec.zip64) {
      directory.put(zip::kZip64Field);
      directory.put(uint16_t{24});
      directory.put(plain_size);
      directory.put(uint64_t{packed.size()});
      directory.put(uint64_t{offset});
    }
    directory.put_bytes(bytes_of("no"));
  }
  const uint64_t start = out.size();
  out.put_bytes(directory.bytes());
  if (zip64_end) {
    const uint64_t record = out.size();
    out.put(zip::kEnd64);
    out.put(uint64_t{44});
    out.put(uint32_t{0});
    out.put(uint64_t{0});
    out.put(uint64_t{specs.size()});
    out.put(uint64_t{specs.size()});
    out.put(uint64_t{directory.size()});
    out.put(start);
    out.put(zip::kEnd64Locator);
    out.put(uint32_t{0});
    out.put(record);
    out.put(uint32_t{1});
  }
  const auto count = zip64_end ? zip::kSee64Short : static_cast<uint16_t>(specs.size());
  out.put(zip::kEnd);
  out.put(uint32_t{0});
  out.put(count);
  out.put(count);
  out.put(zip64_end ? zip::kSee64 : static_cast<uint32_t>(directory.size()));
  out.put(zip64_end ? zip::kSee64 : static_cast<uint32_t>(start));
  out.put(static_cast<uint16_t>(comment.size()));
  out.put_bytes(bytes_of(comment));
  return out.take();
}

std::string error_of(const Bytes& bytes, ErrorCode code = ErrorCode::CorruptFile) {
  try {
    const ZipReader reader(bytes, "x.zip");
    for (const ZipEntry& entry : reader.entries()) reader.extract(entry);
    return "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
}

const std::string kLong = std::string(5000, 'a') + "bc" + std::string(5000, 'd');

TEST(Zip, ReadsStoredDeflatedAndZip64) {
  for (const bool zip64 : {false, true}) {
    const Bytes bytes = archive_of({{"a", bytes_of("stored"), zip::kStored, zip64},
                                    {"b", bytes_of(kLong), zip::kDeflated, zip64},
                                    {"empty", {}, zip::kDeflated, zip64},
                                    {"", {}, zip::kStored, zip64}},
                                   zip64, "a comment");
    const ZipReader reader(bytes, "x.zip");
    ASSERT_EQ(reader.entries().size(), 4u);
    EXPECT_EQ(text_of(reader.extract(*reader.find("a"))), "stored");
    EXPECT_EQ(text_of(reader.extract(*reader.find("b"))), kLong);
    EXPECT_EQ(text_of(reader.extract(*reader.find("empty"))), "");
    EXPECT_EQ(reader.find("c"), nullptr);
  }
}

TEST(Zip, WhatIsWrittenIsRead) {
  Bytes bytes;
  ZipWriter writer([&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  writer.add("first", bytes_of("1"));
  writer.add("second", bytes_of(kLong));
  writer.add("third", {});
  EXPECT_THROW(writer.add("first", {}), Error);
  EXPECT_THROW(writer.add("", {}), Error);
  writer.finish();
  const ZipReader reader(bytes, "x.zip");
  ASSERT_EQ(reader.entries().size(), 3u);
  EXPECT_EQ(text_of(reader.extract(reader.entries()[0])), "1");
  EXPECT_EQ(text_of(reader.extract(reader.entries()[1])), kLong);
}

TEST(Zip, AnArchiveMayBeEmpty) {
  Bytes bytes;
  ZipWriter writer([&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  writer.finish();
  EXPECT_EQ(ZipReader(bytes, "x.zip").entries().size(), 0u);
}

TEST(Zip, ErrorsNameArchiveAndEntry) {
  EXPECT_EQ(error_of({}), "x.zip is not a zip archive, or its end is missing");
  EXPECT_EQ(error_of(archive_of({{"a", bytes_of("x"), 12}}), ErrorCode::Unsupported),
            "x.zip: entry 'a' is packed by method 12; 0 (stored) and 8 (deflated) are known");
  EXPECT_EQ(error_of(archive_of({{"a", {}, zip::kStored, false, zip::kEncryptedFlag}}), ErrorCode::Unsupported),
            "x.zip: entry 'a' is encrypted");
  EXPECT_EQ(error_of(archive_of({{"a", bytes_of("x")}, {"a", bytes_of("y")}})), "x.zip: two entries have the name 'a'");
  EXPECT_EQ(error_of(archive_of({{"a", bytes_of("x"), zip::kDeflated, false, 0, 2}})),
            "x.zip: entry 'a' does not unpack to 2 bytes");
  EXPECT_EQ(error_of(archive_of({{"a", bytes_of("x"), zip::kStored, false, 0, 2}})),
            "x.zip: entry 'a' cannot unpack from 1 to 2 bytes");
}

TEST(Zip, AnArchiveCannotAskForMoreThanDeflateGives) {
  EXPECT_EQ(error_of(archive_of({{"a", bytes_of("x"), zip::kDeflated, true, 0, uint64_t{1} << 40}})),
            "x.zip: entry 'a' cannot unpack from 3 to 1099511627776 bytes");
  const Bytes zeros(10'000'000);
  EXPECT_EQ(error_of(archive_of({{"zeros", zeros}})), "no error") << "the best that deflate can do is not refused";
}

TEST(Zip, EntriesMayNotShareBytes) {
  // The directory's second entry points to the first one's bytes.
  Bytes bytes = archive_of({{"a", bytes_of("x"), zip::kStored}, {"b", bytes_of("x"), zip::kStored}});
  const std::string text = text_of(bytes);
  const size_t header = text.rfind(std::string("PK\1\2"));
  for (size_t i = 0; i < 4; ++i) bytes[header + 42 + i] = std::byte{0};
  EXPECT_EQ(error_of(bytes), "x.zip: entries 'a' and 'b' share bytes");
}

TEST(Zip, EveryTruncationAndManyFlippedBytesAreRejectedOrRead) {
  for (const bool zip64 : {false, true}) {
    const Bytes whole =
        archive_of({{"a", bytes_of("stored"), zip::kStored, zip64}, {"b", bytes_of(kLong), 8, zip64}}, zip64);
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_NE(error_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "no error");
    for (size_t at = 0; at < whole.size(); ++at)
      for (const unsigned flip : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 255u}) {
        Bytes bytes = whole;
        bytes[at] ^= static_cast<std::byte>(flip);
        try {
          const ZipReader reader(bytes, "x.zip");
          for (const ZipEntry& entry : reader.entries()) {
            const std::string text = text_of(reader.extract(entry));
            EXPECT_TRUE(text == "stored" || text == kLong || text.empty());
          }
        } catch (const Error&) {
        }
      }
  }
}

}  // namespace
}  // namespace ingot
