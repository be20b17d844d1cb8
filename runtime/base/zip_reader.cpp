#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include <zlib.h>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/base/zip.h"
#include "runtime/base/zip_format.h"

namespace ingot {
namespace {

// What deflate packs into one byte at most, and what fits beside that in the smallest stream.
constexpr uint64_t kMostExpansion = 1032;
constexpr uint64_t kExpansionSlack = 1032;

uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// The record at the end of the archive: the last place where it fits with its comment.
std::optional<size_t> find_end(std::span<const std::byte> bytes) {
  constexpr size_t kLongestComment = 0xffff;
  if (bytes.size() < zip::kEndBytes) return std::nullopt;
  const size_t last = bytes.size() - zip::kEndBytes;
  const size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (size_t at = last + 1; at-- > first;) {
    uint32_t signature = 0;
    uint16_t comment = 0;
    std::memcpy(&signature, bytes.data() + at, sizeof signature);
    std::memcpy(&comment, bytes.data() + at + zip::kEndBytes - sizeof comment, sizeof comment);
    if (signature == zip::kEnd && comment == last - at) return at;
  }
  return std::nullopt;
}

// Fills what the header's fields of 32 bits could not hold from the extra field.
void read_extra(std::span<const std::byte> extra, ZipEntry& entry, std::string_view what) {
  ByteReader reader(extra, what);
  while (reader.left() >= 4) {
    const auto id = reader.get<uint16_t>();
    const auto size = reader.get<uint16_t>();
    const auto field = reader.get_bytes(size);
    if (id != zip::kZip64Field) continue;
    ByteReader numbers(field, what);
    for (uint64_t* number : {&entry.bytes, &entry.packed_bytes, &entry.offset})
      if (*number == zip::kSee64) *number = numbers.get<uint64_t>();
    return;
  }
}

class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) fail(ErrorCode::OutOfMemory, "no memory to unpack an archive");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // True where `from` is one whole stream that fills `to`.
  bool run(std::span<const std::byte> from, std::span<std::byte> to) {
    // A stream that unpacks to nothing still wants a place to write to.
    Bytef nowhere = 0;
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from.data()));
    stream_.next_out = to.empty() ? &nowhere : reinterpret_cast<Bytef*>(to.data());
    size_t in_left = from.size();
    size_t out_left = to.size();
    while (true) {
      const auto in = static_cast<uInt>(std::min<size_t>(in_left, kMostAtOnce));
      const auto out = static_cast<uInt>(std::min<size_t>(out_left, kMostAtOnce));
      stream_.avail_in = in;
      stream_.avail_out = out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      in_left -= in - stream_.avail_in;
      out_left -= out - stream_.avail_out;
      if (status == Z_STREAM_END) return in_left == 0 && out_left == 0;
      const bool moved = stream_.avail_in < in || stream_.avail_out < out;
      if (status != Z_OK || !moved) return false;
    }
  }

 private:
  static constexpr size_t kMostAtOnce = size_t{1} << 30;
  z_stream stream_{};
};

}  // namespace

ZipReader::ZipReader(std::span<const std::byte> bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {
  const auto end = find_end(bytes_);
  if (!end) fail(ErrorCode::CorruptFile, "{} is not a zip archive, or its end is missing", what_);
  ByteReader reader(bytes_.subspan(*end + 4), what_);
  const auto disk = reader.get<uint16_t>();
  const auto directory_disk = reader.get<uint16_t>();
  reader.get<uint16_t>();
  uint64_t count = reader.get<uint16_t>();
  uint64_t directory_bytes = reader.get<uint32_t>();
  uint64_t directory_offset = reader.get<uint32_t>();
  if (disk != directory_disk) fail(ErrorCode::Unsupported, "{} is one of several volumes of an archive", what_);

  const bool see64 = count == zip::kSee64Short || directory_bytes == zip::kSee64 || directory_offset == zip::kSee64;
  if (see64 && *end >= zip::kEnd64LocatorBytes) {
    ByteReader locator(bytes_.subspan(*end - zip::kEnd64LocatorBytes, zip::kEnd64LocatorBytes), what_);
    if (locator.get<uint32_t>() == zip::kEnd64Locator) {
      locator.get<uint32_t>();
      const auto at = locator.get<uint64_t>();
      if (at > *end || *end - at < zip::kEnd64Bytes)
        fail(ErrorCode::CorruptFile, "{}: the zip64 record lies at byte {}, behind the archive's end at {}", what_, at,
             *end);
      ByteReader record(bytes_.subspan(at, zip::kEnd64Bytes), what_);
      if (record.get<uint32_t>() != zip::kEnd64)
        fail(ErrorCode::CorruptFile, "{}: there is no zip64 record at byte {}", what_, at);
      record.get_bytes(28);
      count = record.get<uint64_t>();
      directory_bytes = record.get<uint64_t>();
      directory_offset = record.get<uint64_t>();
    }
  }
  read_directory(directory_offset, directory_bytes, count);
  check_entries();
}

void ZipReader::read_directory(uint64_t offset, uint64_t bytes, uint64_t count) {
  if (offset > bytes_.size() || bytes > bytes_.size() - offset)
    fail(ErrorCode::CorruptFile, "{}: its table of contents takes {} bytes from byte {}, but it has {}", what_, bytes,
         offset, bytes_.size());
  if (count > bytes / zip::kDirectoryHeaderBytes)
    fail(ErrorCode::CorruptFile, "{}: {} entries do not fit a table of contents of {} bytes", what_, count, bytes);
  ByteReader reader(bytes_.subspan(offset, bytes), what_);
  entries_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    if (reader.get<uint32_t>() != zip::kDirectoryHeader)
      fail(ErrorCode::CorruptFile, "{}: entry {} of its table of contents is damaged", what_, i);
    reader.get_bytes(4);
    const auto flags = reader.get<uint16_t>();
    ZipEntry entry;
    entry.method = reader.get<uint16_t>();
    reader.get_bytes(4);
    entry.crc = reader.get<uint32_t>();
    entry.packed_bytes = reader.get<uint32_t>();
    entry.bytes = reader.get<uint32_t>();
    const auto name_bytes = reader.get<uint16_t>();
    const auto extra_bytes = reader.get<uint16_t>();
    const auto comment_bytes = reader.get<uint16_t>();
    reader.get_bytes(8);
    entry.offset = reader.get<uint32_t>();
    const auto name = reader.get_bytes(name_bytes);
    entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    read_extra(reader.get_bytes(extra_bytes), entry, what_);
    reader.get_bytes(comment_bytes);
    if ((flags & zip::kEncryptedFlag) != 0)
      fail(ErrorCode::Unsupported, "{}: entry '{}' is encrypted", what_, entry.name);
    entries_.push_back(std::move(entry));
  }
}

void ZipReader::check_entries() const {
  std::vector<const ZipEntry*> order;
  order.reserve(entries_.size());
  for (const ZipEntry& entry : entries_) {
    order.push_back(&entry);
    if (entry.offset > bytes_.size() || entry.packed_bytes > bytes_.size() - entry.offset)
      fail(ErrorCode::CorruptFile, "{}: entry '{}' takes {} bytes from byte {}, but there are {}", what_, entry.name,
           entry.packed_bytes, entry.offset, bytes_.size());
    const bool plausible = entry.method == zip::kStored
                               ? entry.bytes == entry.packed_bytes
                               : entry.bytes / kMostExpansion <= entry.packed_bytes + kExpansionSlack / kMostExpansion;
    if (!plausible)
      fail(ErrorCode::CorruptFile, "{}: entry '{}' cannot unpack from {} to {} bytes", what_, entry.name,
           entry.packed_bytes, entry.bytes);
  }
  std::ranges::sort(order, {}, &ZipEntry::offset);
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->offset - order[i - 1]->offset < zip::kLocalHeaderBytes + order[i - 1]->packed_bytes)
      fail(ErrorCode::CorruptFile, "{}: entries '{}' and '{}' share bytes", what_, order[i - 1]->name, order[i]->name);
  std::ranges::sort(order, {}, &ZipEntry::name);
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->name == order[i - 1]->name)
      fail(ErrorCode::CorruptFile, "{}: two entries have the name '{}'", what_, order[i]->name);
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &ZipEntry::name);
  return found != entries_.end() ? &*found : nullptr;
}

std::vector<std::byte> ZipReader::extract(const ZipEntry& entry) const {
  ByteReader reader(bytes_.subspan(entry.offset), what_);
  if (reader.get<uint32_t>() != zip::kLocalHeader)
    fail(ErrorCode::CorruptFile, "{}: there is no entry '{}' at byte {}", what_, entry.name, entry.offset);
  reader.get_bytes(22);
  const auto name_bytes = reader.get<uint16_t>();
  const auto extra_bytes = reader.get<uint16_t>();
  reader.get_bytes(size_t{name_bytes} + extra_bytes);
  const auto packed = reader.get_bytes(entry.packed_bytes);

  std::vector<std::byte> result;
  if (entry.method == zip::kStored) {
    result.assign(packed.begin(), packed.end());
  } else if (entry.method == zip::kDeflated) {
    result.resize(entry.bytes);
    if (!Inflater().run(packed, result))
      fail(ErrorCode::CorruptFile, "{}: entry '{}' does not unpack to {} bytes", what_, entry.name, entry.bytes);
  } else {
    fail(ErrorCode::Unsupported, "{}: entry '{}' is packed by method {}; 0 (stored) and 8 (deflated) are known", what_,
         entry.name, entry.method);
  }
  const uint32_t crc = crc_of(result);
  if (crc != entry.crc)
    fail(ErrorCode::CorruptFile, "{}: entry '{}' has the checksum {:08x}, but {:08x} is stored", what_, entry.name, crc,
         entry.crc);
  return result;
}

}  // namespace ingot
