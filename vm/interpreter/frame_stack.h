#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/memory/arena.h"
#include "runtime/object/value.h"
#include "vm/loader/linked.h"

namespace ingot::vm {

struct FunctionPlan;
struct PlanUse;

// What an activation with a plan keeps at the start of its arena segment.
struct Activation {
  Arena::Mark mark;  // of the arena below the segment
  const FunctionPlan* plan;
  PlanUse* use;
};

// One activation of a function.
//
// `pc`: of a frame that called another one with call or call_value, the instruction to go on with; of every other, the
// instruction that is being executed, as far as it can fault.
struct Frame {
  const LinkedFunction* function;  // null: the frame below which a run loop ends
  const CodeUnit* pc;
  Slot* registers;
  Activation* activation;  // null: no segment
};

// Address space that is reserved at once, never moves, and gets memory as it is touched. Owns it.
class ReservedMemory {
 public:
  // Throws OutOfMemory where the system refuses.
  explicit ReservedMemory(size_t bytes);
  ~ReservedMemory();
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;

  std::byte* begin() const { return begin_; }
  size_t size() const { return size_; }
  // Gives everything from `from` on back to the system; it reads as zeros afterwards.
  void trim(const std::byte* from) noexcept;

 private:
  std::byte* begin_;
  size_t size_;
};

// The frames and registers of a session, both within one limit in bytes.
class FrameStack {
 public:
  explicit FrameStack(size_t limit);

  // Registers behind those of the top frame that may be used without asking: arguments of PackedFuncs.
  static constexpr size_t kSlack = size_t{1} << 17;

  // Changes the limit; nothing may be on the stack. Throws OutOfMemory.
  void set_limit(size_t bytes);
  size_t limit() const { return limit_; }

  Frame* frames_begin() const { return reinterpret_cast<Frame*>(frames_->begin()); }
  Frame* frames_end() const { return frames_end_; }
  Slot* registers_begin() const { return reinterpret_cast<Slot*>(registers_->begin()); }
  Slot* registers_end() const { return registers_end_; }
  void trim(const Frame* frame, const Slot* registers) noexcept;

 private:
  size_t limit_ = 0;
  std::unique_ptr<ReservedMemory> frames_;
  std::unique_ptr<ReservedMemory> registers_;
  Frame* frames_end_ = nullptr;
  Slot* registers_end_ = nullptr;
};

}  // namespace ingot::vm
