#include <algorithm>

#include <zlib.h>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/base/zip.h"
#include "runtime/base/zip_format.h"

namespace ingot {
namespace {

constexpr uint16_t kVersion = 20;
constexpr uint16_t kVersion64 = 45;
// 1980-01-01 00:00: archives of the same entries are the same bytes.
constexpr uint16_t kTime = 0;
constexpr uint16_t kDate = (1 << 5) | 1;

uint32_t narrow_size(uint64_t value) { return value >= zip::kSee64 ? zip::kSee64 : static_cast<uint32_t>(value); }

std::span<const std::byte> name_bytes(const ZipEntry& entry) { return std::as_bytes(std::span(entry.name)); }

// The zip64 field: those of the numbers that do not fit 32 bits.
std::vector<std::byte> extra_field(std::initializer_list<uint64_t> numbers) {
  ByteWriter large;
  for (const uint64_t number : numbers)
    if (number >= zip::kSee64) large.put(number);
  if (large.size() == 0) return {};
  ByteWriter field;
  field.put(zip::kZip64Field);
  field.put(static_cast<uint16_t>(large.size()));
  field.put_bytes(large.bytes());
  return field.take();
}

// What local and directory headers have in common.
void put_common(ByteWriter& writer, const ZipEntry& entry, size_t extra_bytes) {
  writer.put(extra_bytes > 0 ? kVersion64 : kVersion);
  writer.put(zip::kUtf8Flag);
  writer.put(zip::kStored);
  writer.put(kTime);
  writer.put(kDate);
  writer.put(entry.crc);
  writer.put(narrow_size(entry.packed_bytes));
  writer.put(narrow_size(entry.bytes));
  writer.put(static_cast<uint16_t>(entry.name.size()));
  writer.put(static_cast<uint16_t>(extra_bytes));
}

}  // namespace

void ZipWriter::put(std::span<const std::byte> bytes) {
  sink_(bytes);
  offset_ += bytes.size();
}

void ZipWriter::add(std::string_view name, std::span<const std::byte> bytes) {
  if (name.empty() || name.size() > 0xffff)
    fail(ErrorCode::InvalidArgument, "a name of {} bytes cannot stand in a zip archive", name.size());
  if (std::ranges::find(entries_, name, &ZipEntry::name) != entries_.end())
    fail(ErrorCode::InvalidArgument, "the archive has an entry '{}' already", name);
  ZipEntry entry{std::string(name), bytes.size(), bytes.size(), offset_, 0, zip::kStored};
  entry.crc = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  // In a local header the field has both sizes or none.
  const bool large = bytes.size() >= zip::kSee64;
  const auto extra = large ? extra_field({entry.bytes, entry.packed_bytes}) : std::vector<std::byte>();
  ByteWriter header;
  header.put(zip::kLocalHeader);
  put_common(header, entry, extra.size());
  header.put_bytes(name_bytes(entry));
  header.put_bytes(extra);
  put(header.bytes());
  put(bytes);
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const uint64_t start = offset_;
  for (const ZipEntry& entry : entries_) {
    const auto extra = extra_field({entry.bytes, entry.packed_bytes, entry.offset});
    ByteWriter header;
    header.put(zip::kDirectoryHeader);
    header.put(kVersion64);
    put_common(header, entry, extra.size());
    header.put(uint16_t{0});  // comment
    header.put(uint16_t{0});  // volume
    header.put(uint16_t{0});  // internal attributes
    header.put(uint32_t{0});  // external attributes
    header.put(narrow_size(entry.offset));
    header.put_bytes(name_bytes(entry));
    header.put_bytes(extra);
    put(header.bytes());
  }
  const uint64_t bytes = offset_ - start;
  const uint64_t count = entries_.size();
  ByteWriter end;
  if (start >= zip::kSee64 || bytes >= zip::kSee64 || count >= zip::kSee64Short) {
    const uint64_t record = offset_;
    end.put(zip::kEnd64);
    end.put(uint64_t{zip::kEnd64Bytes - 12});
    end.put(kVersion64);
    end.put(kVersion64);
    end.put(uint32_t{0});
    end.put(uint32_t{0});
    end.put(count);
    end.put(count);
    end.put(bytes);
    end.put(start);
    end.put(zip::kEnd64Locator);
    end.put(uint32_t{0});
    end.put(record);
    end.put(uint32_t{1});
  }
  const auto short_count = static_cast<uint16_t>(std::min<uint64_t>(count, zip::kSee64Short));
  end.put(zip::kEnd);
  end.put(uint16_t{0});
  end.put(uint16_t{0});
  end.put(short_count);
  end.put(short_count);
  end.put(narrow_size(bytes));
  end.put(narrow_size(start));
  end.put(uint16_t{0});
  put(end.bytes());
}

}  // namespace ingot
