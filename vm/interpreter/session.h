#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/memory/memory_account.h"
#include "runtime/registry/packed_func.h"
#include "vm/loader/executable.h"
#include "vm/profile/profile.h"

namespace ingot::vm {

struct Machine;

// Asks a run on another thread to stop; may be shared by many runs.
class CancelToken {
 public:
  void cancel() { flag_.store(true, std::memory_order_relaxed); }
  void reset() { flag_.store(false, std::memory_order_relaxed); }
  bool cancelled() const { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_ = false;
};

struct RunOptions {
  uint64_t instruction_budget = 0;            // 0: no limit
  std::chrono::nanoseconds deadline{0};       // from the start of the run; 0: none
  size_t memory_limit = 0;                    // bytes of this session's objects and arena; 0: none
  size_t frame_limit = size_t{1} << 30;       // bytes of frames and registers
  std::shared_ptr<const CancelToken> cancel;  // may be null
  std::shared_ptr<Profile> profile;           // where to note what took how long; may be null
};

struct SessionOptions {
  std::optional<std::set<std::string>>
      allow;          // names that the program may call besides ingot.*; none: all of `registry`
  Registry registry;  // the host's PackedFuncs
  std::function<void(std::string_view)> log;    // ingot.log
  std::function<void(std::string_view)> print;  // ingot.print
};

// One frame of a fault's backtrace.
struct FaultFrame {
  std::string function;
  uint32_t unit;
  std::string source;
  uint32_t line;
};

// An Error raised by running code: where it happened, innermost frame first. Of deep backtraces only the first and the
// last kShownFrames frames are kept.
class Fault : public Error {
 public:
  static constexpr size_t kShownFrames = 16;

  Fault(Error error, std::vector<FaultFrame> frames, size_t omitted)
      : Error(std::move(error)), frames_(std::move(frames)), omitted_(omitted) {}
  std::span<const FaultFrame> frames() const { return frames_; }
  // How many frames are missing behind frames()[kShownFrames - 1].
  size_t omitted() const { return omitted_; }
  // A line for each frame: "at @fib, unit 12 (fib.relax:3)", and one for those that are missing.
  std::string backtrace() const;

 private:
  std::vector<FaultFrame> frames_;
  size_t omitted_;
};

// Runs functions of one executable; keeps registers, arena and free lists between runs. Belongs to one thread at a
// time, and is reusable after any fault.
class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(std::unique_ptr<Machine> machine);  // for create
  static std::shared_ptr<Session> create(std::shared_ptr<const Executable> executable, SessionOptions options = {});
  ~Session();

  // Runs an exported function. Arguments must be Shared or Uncounted or made by this session; the result may go to any
  // thread and never points into the executable or an arena. Throws Fault (of running code) or Error (no such function,
  // wrong number of arguments).
  Value run(std::string_view function, std::span<const Value> args, const RunOptions& options = {});
  Value run(uint32_t function, std::span<const Value> args, const RunOptions& options = {});
  // A closure of this executable or a PackedFunc. PackedFuncs may call back into the session that runs them, up to 200
  // deep; `options` of such calls are ignored, those of the outer run hold.
  Value call(const Value& callee, std::span<const Value> args, const RunOptions& options = {});

  // Gives a result that nobody else holds back, so that the next run finds its memory; any other value is released.
  void recycle(Value result) noexcept;

  // Adds or replaces a PackedFunc and resolves the imports again. Not during a run.
  void register_function(std::string name, PackedFunction function);

  const std::shared_ptr<const Executable>& executable() const;
  MemoryStatistics memory() const;
  // Gives what is kept for the next run back to the operating system. Slow: for a session that rests.
  void trim();

 private:
  std::unique_ptr<Machine> machine_;
};

}  // namespace ingot::vm
