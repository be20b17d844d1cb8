#include "vm/interpreter/fault.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "vm/interpreter/instructions.h"
#include "vm/isa/decode.h"
#include "vm/verifier/verifier.h"

namespace ingot::vm {
namespace {

// The instruction whose next one is at `unit`: the call that the frame waits for.
uint32_t instruction_before(std::span<const CodeUnit> code, uint32_t unit) {
  for (const Instruction& i : Instructions<Unchecked>(code))
    if (i.next() == unit) return i.at;
  return 0;
}

bool is_end_mark(const Frame& frame) { return frame.function == nullptr; }

// A frame below another one of the same run loop waits for it; the top one, and one below an end mark, is inside of its
// instruction.
bool is_in_call(const Machine& m, const Frame* frame) { return frame != m.frame && !is_end_mark(frame[1]); }

uint32_t unit_of(const Machine& m, const Frame* frame) {
  const LinkedFunction& function = *frame->function;
  const auto unit = static_cast<uint32_t>(frame->pc - function.code.data());
  return is_in_call(m, frame) ? instruction_before(function.source->code, unit) : unit;
}

FaultFrame describe(const Machine& m, const Frame* frame) {
  const Function& function = *frame->function->source;
  FaultFrame result{function.name, unit_of(m, frame), function.source, 0};
  const auto after = std::upper_bound(function.spans.begin(), function.spans.end(), result.unit,
                                      [](uint32_t unit, const SourceSpan& span) { return unit < span.unit; });
  if (after != function.spans.begin()) result.line = std::prev(after)->line;
  return result;
}

struct Trace {
  std::vector<FaultFrame> frames;
  size_t omitted = 0;
};

Trace take_trace(const Machine& m) {
  const Frame* const begin = m.stack.frames_begin();
  size_t total = 0;
  for (const Frame* frame = m.frame; frame > begin; --frame) total += is_end_mark(*frame) ? 0 : 1;
  Trace trace;
  size_t index = 0;
  for (const Frame* frame = m.frame; frame > begin; --frame) {
    if (is_end_mark(*frame)) continue;
    if (index < Fault::kShownFrames || index >= total - std::min(total, Fault::kShownFrames))
      trace.frames.push_back(describe(m, frame));
    else
      ++trace.omitted;
    ++index;
  }
  return trace;
}

// Recursive functions put frames of few kinds on the stack: the last ones are remembered. Allocates nothing, for memory
// may be what is missing.
void release_frames(Machine& m, const Frame* mark) noexcept {
  for (Frame* frame = m.frame; frame != mark; --frame) {
    const bool in_call = is_in_call(m, frame);
    auto known = std::ranges::find_if(m.releases, [&](const Machine::Release& release) {
      return release.pc == frame->pc && release.in_call == in_call;
    });
    if (known == m.releases.end()) {
      std::rotate(m.releases.begin(), m.releases.end() - 1, m.releases.end());
      known = m.releases.begin();
      known->pc = frame->pc;
      known->in_call = in_call;
      registers_to_release(*frame->function->source, *frame->function->facts, unit_of(m, frame),
                           in_call ? FramePoint::InCall : FramePoint::Before, known->registers);
    }
    const RegisterSet& held = known->registers;
    for (uint32_t reg = held.next(0); reg != RegisterSet::kEnd; reg = held.next(reg + 1))
      release(frame->registers[reg]);
    if (frame->activation != nullptr) pop_activation(m, *frame);
  }
}

// Without memory for it, the trace is empty.
Trace trace_if_possible(const Machine& m) noexcept {
  try {
    return take_trace(m);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

std::string Fault::backtrace() const {
  std::string text;
  for (size_t i = 0; i < frames_.size(); ++i) {
    if (i == kShownFrames && omitted_ != 0) text += fmt::format("... {} more frames ...\n", omitted_);
    const FaultFrame& frame = frames_[i];
    text += fmt::format("at @{}, unit {}", frame.function, frame.unit);
    if (frame.line != 0) text += fmt::format(" ({}:{})", frame.source, frame.line);
    text += '\n';
  }
  return text;
}

Fault unwind(Machine& m, Frame* mark, std::exception_ptr error) {
  const auto finish = [&] {
    release_frames(m, mark);
    m.frame = mark - 1;
  };
  try {
    std::rethrow_exception(error);
  } catch (const Fault& fault) {
    finish();
    return fault;
  } catch (const Error& plain) {
    Trace trace = trace_if_possible(m);
    finish();
    return {plain, std::move(trace.frames), trace.omitted};
  } catch (const std::bad_alloc&) {
    finish();
    return {Error(ErrorCode::OutOfMemory, "the system has no memory left"), {}, 0};
  } catch (const std::exception& other) {
    Trace trace = trace_if_possible(m);
    finish();
    return {Error(ErrorCode::Internal, other.what()), std::move(trace.frames), trace.omitted};
  }
}

}  // namespace ingot::vm
