#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vm/executable/format.h"

// Header and section table of an executable file, apart from what the sections say.
namespace ingot::vm {

struct SectionInfo {
  uint32_t id;
  bool required;
  uint64_t offset;
  uint64_t bytes;
  uint64_t checksum;
  std::string name;  // "code"; "section 40" where this build does not know it
};

struct FileLayout {
  uint32_t version;
  uint64_t features;
  std::vector<SectionInfo> sections;  // in the order of the file
};

// Checks all but the sections' checksums and contents. Throws CorruptFile, with both numbers where there are two, and
// Unsupported for another format version and for required sections that this build does not know. Reads nothing twice,
// so the bytes may lie in a file that others change.
FileLayout read_layout(std::span<const std::byte> file);

uint64_t checksum(std::span<const std::byte> bytes);

// Writes the checksum of header and section table, which are `head`, into the header.
void seal_head(std::span<std::byte> head);

// Makes all checksums right again after bytes were changed, for tests of what lies behind them; parts that header and
// table do not describe soundly are left alone.
void reseal(std::span<std::byte> file);

}  // namespace ingot::vm
