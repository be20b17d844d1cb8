#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The numbers of the executable file, shared by reader and writer. docs/executable_format.md is the prose.
namespace ingot::vm::format {

// The high bit and the line ends show transfers that change text.
inline constexpr std::array<char, 8> kMagic = {'\x89', 'I', 'N', 'G', 'O', 'T', '\r', '\n'};
inline constexpr uint32_t kVersion = 0;
inline constexpr size_t kAlignment = 64;
// Sections of one file, known and unknown ones.
inline constexpr uint32_t kMaxSections = 256;

// Stands at byte 0; the section table follows. Little-endian, like everything.
struct FileHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t sections;  // entries of the table
  uint64_t features;  // bit i: a reader must know kFeatures[i]
  uint64_t bytes;     // of the whole file
  std::array<uint64_t, 3> zero;
  uint64_t checksum;  // XXH3 of everything above and of the section table
};
static_assert(sizeof(FileHeader) == 64);

// One entry of the table. Entries stand in order of ids, sections in the same order, each at the next multiple of
// kAlignment behind the one before; between them are zeros, and the last one ends the file.
struct SectionEntry {
  uint32_t id;
  uint32_t flags;
  uint64_t offset;
  uint64_t bytes;
  uint64_t checksum;  // XXH3 of its bytes
};
static_assert(sizeof(SectionEntry) == 32);

// A reader that does not know the section must not read the file.
inline constexpr uint32_t kRequired = 1;

enum class Section : uint32_t {
  Features = 1,    // names of the features that the header's bits ask for
  Strings = 2,     // names; others refer to them by position
  Functions = 3,   // one fixed record for each function
  Signatures = 4,  // symbolic variables, StructInfo and parameter names of each function
  Tables = 5,      // storage sizes, checks, expressions and loop headers of each function
  Code = 6,        // units of all functions, one after the other
  Constants = 7,   // what the constants are; elements of tensors lie in Data
  PrimFuncs = 8,
  Kernels = 9,   // kernel calls
  Imports = 10,  // PackedFuncs and what they write
  Metadata = 11,
  Debug = 12,   // source spans; optional
  Data = 13,    // elements of constant tensors, each at a multiple of kAlignment; mapped, not copied
  Bounds = 14,  // the most that entry dimensions may be; optional
};

struct SectionName {
  Section id;
  std::string_view name;
  bool required;  // must be in every file
};
inline constexpr SectionName kSections[] = {
    {Section::Features, "features", false},  {Section::Strings, "strings", true},
    {Section::Functions, "functions", true}, {Section::Signatures, "signatures", true},
    {Section::Tables, "tables", true},       {Section::Code, "code", true},
    {Section::Constants, "constants", true}, {Section::PrimFuncs, "prim_funcs", true},
    {Section::Kernels, "kernels", true},     {Section::Imports, "imports", true},
    {Section::Metadata, "metadata", true},   {Section::Debug, "debug", false},
    {Section::Data, "data", true},           {Section::Bounds, "bounds", false},
};

// Features that a file may ask for, by bit. Append only.
inline constexpr std::array<std::string_view, 0> kFeatures = {};

// Bits of a function's record.
inline constexpr uint32_t kExported = 1;
inline constexpr uint32_t kPure = 2;

// Of an attribute of a kernel call.
enum class AttributeType : uint8_t { Integer, Number, Text, Integers };

inline constexpr uint32_t kNone = UINT32_MAX;  // no PrimFunc

}  // namespace ingot::vm::format
