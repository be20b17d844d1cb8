#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// One file of a zip archive.
struct ZipEntry {
  std::string name;
  uint64_t bytes = 0;         // unpacked
  uint64_t packed_bytes = 0;  // as stored
  uint64_t offset = 0;        // of its local header
  uint32_t crc = 0;
  uint16_t method = 0;  // 0 stored, 8 deflated
};

// Reads zip archives from memory that is not trusted: stored and deflated entries, zip64. The bytes must outlive the
// reader.
//
// The constructor reads the table of contents; CorruptFile where it does not fit the bytes, where two entries share
// bytes or a name, or where an entry claims to unpack to more than deflate can (so an archive cannot ask for more than
// about 1032 times its size); Unsupported for archives of several volumes. `what` names the archive in messages.
class ZipReader {
 public:
  ZipReader(std::span<const std::byte> bytes, std::string what);

  std::span<const ZipEntry> entries() const { return entries_; }
  // Null where there is none of that name.
  const ZipEntry* find(std::string_view name) const;
  // CorruptFile where lengths or the checksum do not hold; Unsupported for encrypted entries and other methods.
  std::vector<std::byte> extract(const ZipEntry& entry) const;

 private:
  void read_directory(uint64_t offset, uint64_t bytes, uint64_t count);
  void check_entries() const;

  std::span<const std::byte> bytes_;
  std::string what_;
  std::vector<ZipEntry> entries_;
};

// Writes an archive of stored entries; zip64 where an entry or the archive needs it. The same entries give the same
// bytes.
class ZipWriter {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;
  // The sink gets the archive piece by piece.
  explicit ZipWriter(Sink sink) : sink_(std::move(sink)) {}

  // InvalidArgument for a name that is empty, longer than 65,535 bytes or taken.
  void add(std::string_view name, std::span<const std::byte> bytes);
  // Writes the table of contents; nothing may be added afterwards.
  void finish();

 private:
  void put(std::span<const std::byte> bytes);

  Sink sink_;
  uint64_t offset_ = 0;
  std::vector<ZipEntry> entries_;
};

}  // namespace ingot
