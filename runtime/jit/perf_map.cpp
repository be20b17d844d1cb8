#include "runtime/jit/perf_map.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"

namespace ingot::jit {
namespace {

constexpr double kNanosecond = 1e-9;

[[noreturn]] void fail_io(const std::filesystem::path& path, std::string_view what) {
  fail(ErrorCode::Io, "{}: {}: {}", path.string(), what, std::generic_category().message(errno));
}

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + kNanosecond * static_cast<double>(time.tv_nsec);
}

// Seconds since 1970; 0 where the system does not tell.
double start_of_process() {
  std::ifstream stat("/proc/self/stat");
  const std::string line{std::istreambuf_iterator<char>(stat), {}};
  // The name in parentheses may hold anything; field 22 counts ticks since the machine started.
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  constexpr int kSkipped = 19;
  std::string skipped;
  for (int i = 0; i < kSkipped; ++i) fields >> skipped;
  double ticks = 0;
  timespec now{}, up{};
  if (!(fields >> ticks) || clock_gettime(CLOCK_REALTIME, &now) != 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0)
    return 0;
  return seconds(now) - seconds(up) + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

using Entry = PerfMap::Entry;

void add_entries(const std::vector<StageCode>& stages, const std::string& name, std::vector<Entry>& entries) {
  for (size_t i = 0; i < stages.size(); ++i) {
    const StageCode& stage = stages[i];
    const std::string own = stages.size() == 1 ? name : fmt::format("{}#{}", name, i);
    add_entries(stage.parts, own, entries);
    if (!stage.parts.empty()) continue;
    entries.push_back({stage.entry, own});
    if (stage.aligned_entry != stage.entry) entries.push_back({stage.aligned_entry, own + "/aligned"});
  }
}

}  // namespace

std::filesystem::path PerfMap::path_of_process() { return fmt::format("/tmp/perf-{}.map", ::getpid()); }

PerfMap::PerfMap(std::filesystem::path path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644)) {
  if (file_ < 0) fail_io(path_, "cannot open the perf map");
  struct stat status {};
  const bool stale =
      ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode) && seconds(status.st_mtim) < start_of_process();
  if (!stale || ::ftruncate(file_, 0) == 0) return;
  const int error = errno;
  ::close(file_);
  errno = error;
  fail_io(path_, "cannot empty the perf map");
}

PerfMap::~PerfMap() { ::close(file_); }

void PerfMap::add(const Code& code, const std::string& name) const {
  if (!code.memory) return;
  std::vector<Entry> entries;
  add_entries(code.stages, name, entries);
  add(*code.memory, code.bytes, std::move(entries));
}

void PerfMap::add(const CodeMemory& memory, size_t bytes, std::vector<Entry> entries) const {
  std::ranges::sort(entries, {}, &Entry::begin);
  const auto base = reinterpret_cast<uintptr_t>(memory.entry<const std::byte*>());
  std::string lines;
  for (size_t i = 0; i < entries.size(); ++i) {
    const size_t end = i + 1 < entries.size() ? entries[i + 1].begin : bytes;
    fmt::format_to(std::back_inserter(lines), "{:x} {:x} {}\n", base + entries[i].begin, end - entries[i].begin,
                   entries[i].name);
  }
  // In one piece, so that threads and executables do not mix their lines.
  ssize_t written = 0;
  do written = ::write(file_, lines.data(), lines.size());
  while (written < 0 && errno == EINTR);
  if (written >= 0 && static_cast<size_t>(written) < lines.size()) errno = ENOSPC;
  if (written < 0 || static_cast<size_t>(written) < lines.size()) fail_io(path_, "cannot write the perf map");
}

std::string perf_name(const tir::PrimFunc& func, std::span<const std::vector<int64_t>> dims,
                      std::span<const uint32_t> varying) {
  std::string name = func.name;
  for (size_t i = 0; i < dims.size(); ++i) {
    name += '[';
    for (size_t d = 0; d < dims[i].size(); ++d) {
      if (d > 0) name += 'x';
      const bool varies = i < varying.size() && d < 32 && (varying[i] >> d & 1) != 0;
      name += varies ? to_text(func.buffers[i].dims[d]) : std::to_string(dims[i][d]);
    }
    name += ']';
  }
  // Spaces and semicolons mean something to tools that read what perf prints.
  std::erase(name, ' ');
  std::ranges::replace_if(
      name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == ';'; }, '_');
  return name;
}

}  // namespace ingot::jit
