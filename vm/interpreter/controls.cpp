#include "vm/interpreter/controls.h"

#include "runtime/object/objects.h"
#include "vm/interpreter/instructions.h"
#include "vm/isa/decode.h"

namespace ingot::vm {
namespace {

// Reading the clock takes longer than a call.
constexpr uint32_t kPollsPerClock = 1024;

[[noreturn]] void fail_deadline(const Controls& controls) {
  fail(ErrorCode::DeadlineExceeded, "the run takes longer than its deadline of {} ms",
       static_cast<double>(controls.deadline_given.count()) / 1e6);
}

}  // namespace

void start_controls(Machine& m, const RunOptions& options) {
  Controls& controls = m.controls;
  controls = Controls{};
  controls.budgeted = options.instruction_budget != 0;
  controls.budget = controls.budget_given = options.instruction_budget;
  controls.timed = options.deadline.count() > 0;
  if (controls.timed) {
    controls.deadline = std::chrono::steady_clock::now() + options.deadline;
    controls.deadline_given = options.deadline;
  }
  controls.cancel = options.cancel.get();
  controls.profile = options.profile.get();
  controls.watched = controls.budgeted || (controls.profile != nullptr && controls.profile->wants_instructions());
  m.polling = controls.timed || controls.cancel != nullptr;
  m.controlled = m.polling || controls.budgeted || controls.profile != nullptr;
  m.stopped = false;
  m.register_stop = m.polling ? m.stack.registers_begin() : m.stack.registers_end();
}

void poll(Machine& m) {
  Controls& controls = m.controls;
  if (controls.cancel != nullptr && controls.cancel->cancelled()) fail(ErrorCode::Cancelled, "the run was cancelled");
  if (!controls.timed || ++controls.polls % kPollsPerClock != 0) return;
  if (std::chrono::steady_clock::now() > controls.deadline) fail_deadline(controls);
}

void poll_clock(Machine& m) {
  const Controls& controls = m.controls;
  if (controls.cancel != nullptr && controls.cancel->cancelled()) fail(ErrorCode::Cancelled, "the run was cancelled");
  if (controls.timed && std::chrono::steady_clock::now() > controls.deadline) fail_deadline(controls);
}

bool poll_in_kernel(void* machine) {
  auto& m = *static_cast<Machine*>(machine);
  const Controls& controls = m.controls;
  const bool stop = (controls.cancel != nullptr && controls.cancel->cancelled()) ||
                    (controls.timed && std::chrono::steady_clock::now() > controls.deadline);
  if (stop) std::atomic_ref(m.stopped).store(true, std::memory_order_relaxed);
  return stop;
}

void note_instruction(Machine& m, const Frame& frame, const CodeUnit* pc) {
  if (m.controls.profile->wants_instructions())
    m.controls.profile->step(static_cast<size_t>(&frame - m.stack.frames_begin()), frame.function->index, *pc);
}

void charge(Machine& m, uint64_t work) {
  Controls& controls = m.controls;
  if (!controls.budgeted) return;
  if (controls.budget < work) fail_budget(m);
  controls.budget -= work;
}

void fail_budget(Machine& m) {
  fail(ErrorCode::ResourceExhausted, "the instruction budget of {} is used up", m.controls.budget_given);
}

void fail_explicitly(Machine& m, int32_t code, uint32_t constant) {
  const Slot& text = m.program->constants.slots()[constant];
  const bool known = code >= 0 && code <= static_cast<int32_t>(ErrorCode::Internal);
  const auto error = known ? static_cast<ErrorCode>(code) : ErrorCode::Internal;
  throw Error(error, text.kind == Kind::String ? std::string(static_cast<const StringObject*>(text.object)->text())
                                               : "the program failed");
}

}  // namespace ingot::vm
