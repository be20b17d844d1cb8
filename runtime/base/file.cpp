#include "runtime/base/file.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

[[noreturn]] void fail_io(const std::filesystem::path& path, std::string_view what) {
  const std::string reason = std::generic_category().message(errno);
  fail(ErrorCode::Io, "{}: {}: {}", path.string(), what, reason);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // False where the system reports an error of an earlier write.
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

struct OpenFile {
  Descriptor fd;
  size_t bytes;
};

OpenFile open_file(const std::filesystem::path& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) fail_io(path, "cannot open");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail_io(path, "cannot read");
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::Io, "{}: not a regular file", path.string());
  return {std::move(fd), static_cast<size_t>(status.st_size)};
}

std::shared_ptr<std::byte> aligned_block(size_t bytes) {
  constexpr std::align_val_t kAlign{64};
  auto* memory = static_cast<std::byte*>(::operator new(bytes, kAlign, std::nothrow));
  if (memory == nullptr) fail(ErrorCode::OutOfMemory, "no memory for a file of {} bytes", bytes);
  return {memory, [](std::byte* block) { ::operator delete(block, kAlign); }};
}

void write_all(int fd, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_io(path, "cannot write");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

struct TemporaryFile {
  Descriptor fd;
  std::string name;
};

TemporaryFile create_beside(const std::filesystem::path& path) {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    std::string name = fmt::format("{}.tmp{}.{}", path.string(), ::getpid(), i);
    Descriptor fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd) return {std::move(fd), std::move(name)};
    if (errno != EEXIST) break;
  }
  fail_io(path, "cannot create a temporary file beside it");
}

// Makes the rename itself last; a file system that cannot is no reason to fail.
void sync_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

}  // namespace

FileBytes map_file(const std::filesystem::path& path) {
  const OpenFile file = open_file(path);
  if (file.bytes == 0) return {};
  void* memory = ::mmap(nullptr, file.bytes, PROT_READ, MAP_PRIVATE, file.fd.get(), 0);
  if (memory == MAP_FAILED) fail_io(path, "cannot map");
  const size_t bytes = file.bytes;
  std::shared_ptr<const void> owner(memory, [bytes](const void* map) { ::munmap(const_cast<void*>(map), bytes); });
  return {{static_cast<const std::byte*>(memory), bytes}, std::move(owner)};
}

FileBytes read_file(const std::filesystem::path& path) {
  const OpenFile file = open_file(path);
  const std::shared_ptr<std::byte> block = aligned_block(file.bytes);
  size_t done = 0;
  while (done < file.bytes) {
    const ssize_t got = ::read(file.fd.get(), block.get() + done, file.bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io(path, "cannot read");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return {{block.get(), done}, block};
}

FileBytes copy_bytes(std::span<const std::byte> bytes) {
  const std::shared_ptr<std::byte> block = aligned_block(bytes.size());
  std::ranges::copy(bytes, block.get());
  return {{block.get(), bytes.size()}, block};
}

void save_file(const std::filesystem::path& path, const std::function<void(const ByteSink&)>& produce) {
  TemporaryFile file = create_beside(path);
  try {
    produce([&](std::span<const std::byte> bytes) { write_all(file.fd.get(), bytes, path); });
    if (::fsync(file.fd.get()) != 0 || !file.fd.close()) fail_io(path, "cannot write");
    if (::rename(file.name.c_str(), path.c_str()) != 0) fail_io(path, "cannot replace");
  } catch (...) {
    ::unlink(file.name.c_str());
    throw;
  }
  sync_folder(path);
}

}  // namespace ingot
