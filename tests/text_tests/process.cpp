#include "tests/text_tests/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ingot::text_tests {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    read = ends[0];
    write = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(read);
    close_write();
  }

  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

// Appends what can be read; false at the end of the stream.
bool drain(int fd, std::string& to) {
  std::array<char, 65536> buffer{};
  const ssize_t size = read(fd, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR;
  to.append(buffer.data(), static_cast<size_t>(size));
  return size > 0;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& words, const std::filesystem::path& folder,
                          std::chrono::seconds timeout) {
  using Clock = std::chrono::steady_clock;
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
  // A group of its own, so that children of the program are killed with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    throw std::runtime_error(words[0] + " cannot be started: " + std::generic_category().message(failed));
  out.close_write();
  err.close_write();

  ProcessResult result;
  const auto deadline = Clock::now() + timeout;
  std::array<pollfd, 2> streams{pollfd{out.read, POLLIN, 0}, pollfd{err.read, POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      result.timed_out = true;
      break;
    }
    if (poll(streams.data(), streams.size(), static_cast<int>(left)) <= 0) continue;
    if (streams[0].revents != 0 && !drain(out.read, result.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !drain(err.read, result.err)) streams[1].fd = -1;
  }
  if (result.timed_out) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exit_code = WEXITSTATUS(status);
  return result;
}

}  // namespace ingot::text_tests
