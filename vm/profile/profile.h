#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "vm/isa/isa.h"

namespace ingot::vm {

// Times are nanoseconds of wall time. Those of instructions are net of what reading the clock takes.

// How often one call_kernel ran and how long it took.
struct KernelTime {
  uint32_t function = 0;  // of the program
  uint32_t unit = 0;      // of the function's code
  uint64_t calls = 0;
  uint64_t nanoseconds = 0;
};

struct FunctionTime {
  uint32_t function = 0;
  uint64_t calls = 0;
  uint64_t nanoseconds = 0;   // of its own instructions, kernels included
  uint64_t with_callees = 0;  // from entry to return; a recursive function counts from its outermost activation
};

struct InstructionTime {
  Opcode opcode{};
  uint64_t count = 0;
  uint64_t nanoseconds = 0;
};

// One activation of a function or one run of a kernel, from the first run on.
struct TimeSpan {
  enum class What : uint8_t { Function, Kernel };
  What what = What::Function;
  uint32_t function = 0;
  uint32_t unit = 0;  // of a kernel
  uint64_t start = 0;
  uint64_t duration = 0;
};

struct ProfileOptions {
  bool instructions = true;  // note each instruction, and with them functions and stacks; otherwise kernels alone
  size_t max_spans = 0;      // so many spans are kept, the rest is counted
};

// Where runs spend their time, collected while it is given to them as an option. One thread at a time.
class Profile {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Profile(ProfileOptions options = {});

  // For the interpreter. `step` comes before each instruction; `depth` is the place of its frame on the stack.
  bool wants_instructions() const { return options_.instructions; }
  void begin_run();
  void step(size_t depth, uint32_t function, CodeUnit opcode);
  void end_run();
  void add_kernel(uint32_t function, uint32_t unit, Clock::time_point start, Clock::time_point end);

  // The longest total first.
  std::vector<KernelTime> kernels() const;
  std::vector<FunctionTime> functions() const;
  std::vector<InstructionTime> instructions() const;
  // In order of their ends.
  std::span<const TimeSpan> spans() const { return spans_; }
  uint64_t dropped_spans() const { return dropped_spans_; }

  // Visits each stack of functions, outermost first, and the time of the innermost one's own instructions. Frames
  // deeper than 256 stand directly on the 256th, and where there are 65,536 different stacks, what another one takes
  // goes to the one that it stands on.
  void for_each_stack(
      const std::function<void(std::span<const uint32_t> functions, uint64_t nanoseconds)>& visit) const;

 private:
  struct Totals {
    uint64_t calls = 0;
    uint64_t own = 0;
    uint64_t with_callees = 0;
    uint64_t active = 0;
    uint64_t entered = 0;  // when `active` became 1
  };
  // A stack: a function, and the stack that it was called from.
  struct Node {
    uint32_t parent;
    uint32_t function;
    uint64_t own = 0;
  };
  struct Activation {
    uint32_t node;
    uint32_t function;  // kNoFunction: between run loops
    uint64_t start;
  };

  uint64_t now() const;
  uint64_t since_start(Clock::time_point time) const;
  void charge(uint64_t time);
  void enter(uint32_t function, uint64_t time);
  void leave(uint64_t time);
  uint32_t child(uint32_t parent, uint32_t function);
  void keep(const TimeSpan& span);

  ProfileOptions options_;
  Clock::time_point start_;
  uint64_t clock_cost_;
  std::map<std::pair<uint32_t, uint32_t>, KernelTime> kernels_;
  std::vector<Totals> functions_;
  std::vector<InstructionTime> instructions_;
  std::vector<Node> nodes_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> children_;
  std::vector<Activation> stack_;
  std::vector<TimeSpan> spans_;
  uint64_t dropped_spans_ = 0;
  bool stepped_ = false;  // `last_` is an instruction of this run
  CodeUnit last_opcode_ = 0;
  uint64_t last_ = 0;
};

}  // namespace ingot::vm
