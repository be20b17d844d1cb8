#include "runtime/base/bytes.h"

#include "runtime/base/error.h"

namespace ingot {

void ByteWriter::put_string(std::string_view text) {
  put(static_cast<uint32_t>(text.size()));
  put_bytes(std::as_bytes(std::span(text)));
}

std::string_view ByteReader::get_string() {
  const auto bytes = take(get<uint32_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint32_t ByteReader::get_count(size_t least_bytes) {
  const size_t at = offset_;
  const auto count = get<uint32_t>();
  if (count > left() / least_bytes)
    fail(ErrorCode::CorruptFile, "{} counts {} entries at byte {}, but only {} bytes follow", what_, count, at, left());
  return count;
}

void ByteReader::align(size_t alignment) { take((0 - offset_) & (alignment - 1)); }

void ByteReader::expect_done() const {
  if (!done()) fail(ErrorCode::CorruptFile, "{} has {} bytes, of which {} are not used", what_, bytes_.size(), left());
}

std::span<const std::byte> ByteReader::take(size_t count) {
  if (count > left())
    fail(ErrorCode::CorruptFile, "{} ends at byte {}, but {} bytes are wanted at byte {}", what_, bytes_.size(), count,
         offset_);
  const auto taken = bytes_.subspan(offset_, count);
  offset_ += count;
  return taken;
}

}  // namespace ingot
