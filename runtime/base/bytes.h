#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ingot {

static_assert(std::endian::native == std::endian::little, "files are little-endian and read in place");

// Appends plain values to a growing buffer, little-endian, without padding.
class ByteWriter {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) { put_bytes(std::as_bytes(std::span(&value, 1))); }
  void put_bytes(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  // u32 length, then the characters.
  void put_string(std::string_view text);
  // Zeros up to a multiple of `alignment`, a power of two.
  void align(size_t alignment) { bytes_.resize((bytes_.size() + alignment - 1) & ~(alignment - 1)); }
  // Overwrites what stands at `offset`.
  template <typename T>
  void patch(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }

  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads the same from memory that is not trusted. Every read checks what is left and throws CorruptFile naming `what`,
// the offset and both sizes. The bytes must outlive the reader and all views taken from it.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> get_bytes(size_t count) { return take(count); }
  std::string_view get_string();
  // A u32 count of things of at least `least_bytes` bytes each; CorruptFile where that many cannot follow, so that a
  // caller may reserve memory for them.
  uint32_t get_count(size_t least_bytes);
  void align(size_t alignment);

  size_t offset() const { return offset_; }
  size_t left() const { return bytes_.size() - offset_; }
  bool done() const { return left() == 0; }
  // CorruptFile unless everything was read.
  void expect_done() const;

 private:
  std::span<const std::byte> take(size_t count);

  std::span<const std::byte> bytes_;
  std::string_view what_;
  size_t offset_ = 0;
};

}  // namespace ingot
