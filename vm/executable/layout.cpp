#include "vm/executable/layout.h"

#include <algorithm>
#include <cstring>

#include <xxhash.h>

#include <fmt/format.h>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"

namespace ingot::vm {
namespace {

using format::FileHeader;
using format::SectionEntry;

constexpr size_t kChecksumAt = offsetof(FileHeader, checksum);

const format::SectionName* known_section(uint32_t id) {
  const auto* at = std::ranges::find(format::kSections, id, [](const auto& s) { return static_cast<uint32_t>(s.id); });
  return at == std::end(format::kSections) ? nullptr : at;
}

// Header and table without the header's own checksum.
uint64_t head_checksum(std::span<const std::byte> head) {
  std::vector<std::byte> covered(head.begin(), head.begin() + kChecksumAt);
  covered.insert(covered.end(), head.begin() + sizeof(FileHeader), head.end());
  return checksum(covered);
}

FileHeader copy_header(std::span<const std::byte> file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

SectionEntry copy_entry(std::span<const std::byte> head, size_t index) {
  SectionEntry entry;
  std::memcpy(&entry, head.data() + sizeof(FileHeader) + index * sizeof entry, sizeof entry);
  return entry;
}

void check_header(const FileHeader& header, size_t file_bytes) {
  if (header.version != format::kVersion)
    fail(ErrorCode::Unsupported, "the file has format version {}, this build reads version {}", header.version,
         format::kVersion);
  if (header.bytes != file_bytes)
    fail(ErrorCode::CorruptFile, "the header speaks of {} bytes, the file has {}", header.bytes, file_bytes);
  if (header.sections > format::kMaxSections)
    fail(ErrorCode::CorruptFile, "the header counts {} sections, at most {} are allowed", header.sections,
         format::kMaxSections);
  if (header.zero != decltype(header.zero){}) fail(ErrorCode::CorruptFile, "reserved bytes of the header are not zero");
}

// `end`: where the section before it ends.
void check_place(const SectionInfo& section, uint64_t end, std::span<const std::byte> file) {
  const auto section_end = checked_add(section.offset, section.bytes);
  if (!section_end || *section_end > file.size())
    fail(ErrorCode::CorruptFile, "section '{}' ends at byte {}, the file has {}", section.name,
         section_end.value_or(UINT64_MAX), file.size());
  const auto expected = checked_align_up(end, format::kAlignment);
  if (!expected || section.offset != *expected)
    fail(ErrorCode::CorruptFile, "section '{}' begins at byte {}, it should at byte {}", section.name, section.offset,
         expected.value_or(UINT64_MAX));
  const auto padding = file.subspan(end, section.offset - end);
  if (std::ranges::any_of(padding, [](std::byte b) { return b != std::byte{0}; }))
    fail(ErrorCode::CorruptFile, "the bytes between {} and {} are not zero", end, section.offset);
}

}  // namespace

uint64_t checksum(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

FileLayout read_layout(std::span<const std::byte> file) {
  if (file.size() < sizeof(FileHeader))
    fail(ErrorCode::CorruptFile, "the file has {} bytes, a header takes {}", file.size(), sizeof(FileHeader));
  const FileHeader seen = copy_header(file);
  if (seen.magic != format::kMagic)
    fail(ErrorCode::CorruptFile, "this is no executable of Ingot: the first bytes are not its mark");
  check_header(seen, file.size());
  const size_t head_bytes = sizeof(FileHeader) + seen.sections * sizeof(SectionEntry);
  if (head_bytes > file.size())
    fail(ErrorCode::CorruptFile, "the section table ends at byte {}, the file has {}", head_bytes, file.size());
  const std::vector<std::byte> head(file.begin(), file.begin() + static_cast<ptrdiff_t>(head_bytes));
  const FileHeader header = copy_header(head);
  if (header.sections != seen.sections || header.checksum != head_checksum(head))
    fail(ErrorCode::CorruptFile, "the header's checksum is {:016x}, its bytes give {:016x}", header.checksum,
         head_checksum(head));

  FileLayout layout{header.version, header.features, {}};
  uint64_t end = head_bytes;
  for (size_t i = 0; i < header.sections; ++i) {
    const SectionEntry entry = copy_entry(head, i);
    const format::SectionName* known = known_section(entry.id);
    SectionInfo section{entry.id,       (entry.flags & format::kRequired) != 0,
                        entry.offset,   entry.bytes,
                        entry.checksum, known ? std::string(known->name) : fmt::format("section {}", entry.id)};
    if (!layout.sections.empty() && entry.id <= layout.sections.back().id)
      fail(ErrorCode::CorruptFile, "section '{}' stands behind '{}'", section.name, layout.sections.back().name);
    if ((entry.flags & ~format::kRequired) != 0)
      fail(ErrorCode::CorruptFile, "section '{}' has unknown flags {:#x}", section.name, entry.flags);
    if (known == nullptr && section.required)
      fail(ErrorCode::Unsupported, "the file needs section {}, which this build does not know", entry.id);
    check_place(section, end, file);
    end = section.offset + section.bytes;
    layout.sections.push_back(std::move(section));
  }
  if (end != file.size())
    fail(ErrorCode::CorruptFile, "the last section ends at byte {}, the file has {}", end, file.size());
  return layout;
}

void seal_head(std::span<std::byte> head) {
  const uint64_t sum = head_checksum(head);
  std::memcpy(head.data() + kChecksumAt, &sum, sizeof sum);
}

void reseal(std::span<std::byte> file) {
  if (file.size() < sizeof(FileHeader)) return;
  const FileHeader header = copy_header(file);
  const size_t room = (file.size() - sizeof(FileHeader)) / sizeof(SectionEntry);
  const size_t sections = std::min<size_t>(header.sections, room);
  for (size_t i = 0; i < sections; ++i) {
    const SectionEntry entry = copy_entry(file, i);
    if (entry.offset > file.size() || entry.bytes > file.size() - entry.offset) continue;
    const uint64_t sum = checksum(file.subspan(entry.offset, entry.bytes));
    std::memcpy(file.data() + sizeof(FileHeader) + i * sizeof entry + offsetof(SectionEntry, checksum), &sum,
                sizeof sum);
  }
  seal_head(file.first(sizeof(FileHeader) + sections * sizeof(SectionEntry)));
}

}  // namespace ingot::vm
