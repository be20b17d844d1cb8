#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

namespace ingot {

// The bytes of a file, at a multiple of 64, and what keeps them in memory.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Maps the file read-only. Whoever shortens it while it is mapped kills the process that reads on: `read_file` is for
// storage that others may change. Both throw Io with the path and the system's reason.
FileBytes map_file(const std::filesystem::path& path);
FileBytes read_file(const std::filesystem::path& path);
FileBytes copy_bytes(std::span<const std::byte> bytes);

using ByteSink = std::function<void(std::span<const std::byte>)>;

// Writes a file so that at every instant, crashes included, `path` shows either what was there before or all of the new
// bytes: a temporary file beside it, fsync, rename. `produce` hands the contents to its argument piece by piece; when
// it throws, nothing remains. Throws Io.
void save_file(const std::filesystem::path& path, const std::function<void(const ByteSink&)>& produce);

}  // namespace ingot
