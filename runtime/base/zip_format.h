#pragma once
#include <cstddef>
#include <cstdint>

// Numbers of the zip format (APPNOTE.TXT 6.3.9, sections 4.3 to 4.5) that reader and writer share.
namespace ingot::zip {

inline constexpr uint32_t kLocalHeader = 0x04034b50;
inline constexpr uint32_t kDirectoryHeader = 0x02014b50;
inline constexpr uint32_t kEnd = 0x06054b50;
inline constexpr uint32_t kEnd64 = 0x06064b50;
inline constexpr uint32_t kEnd64Locator = 0x07064b50;

inline constexpr size_t kLocalHeaderBytes = 30;
inline constexpr size_t kDirectoryHeaderBytes = 46;
inline constexpr size_t kEndBytes = 22;
inline constexpr size_t kEnd64Bytes = 56;
inline constexpr size_t kEnd64LocatorBytes = 20;

inline constexpr uint16_t kZip64Field = 1;
// Where a field of 32 or 16 bits says this, the zip64 record has the number.
inline constexpr uint32_t kSee64 = 0xffffffff;
inline constexpr uint16_t kSee64Short = 0xffff;

inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kDeflated = 8;
inline constexpr uint16_t kEncryptedFlag = 1;
inline constexpr uint16_t kUtf8Flag = 1 << 11;

}  // namespace ingot::zip
