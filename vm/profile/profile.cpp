#include "vm/profile/profile.h"

#include <algorithm>

namespace ingot::vm {
namespace {

constexpr uint32_t kNoFunction = UINT32_MAX;
constexpr uint32_t kRoot = 0;
constexpr size_t kMaxStackDepth = 256;
constexpr size_t kMaxNodes = 65'536;

uint64_t nanoseconds(Profile::Clock::duration duration) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

uint64_t measure_clock() {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 100; ++i) {
    const auto before = Profile::Clock::now();
    least = std::min(least, nanoseconds(Profile::Clock::now() - before));
  }
  return least;
}

bool is_tail_call(CodeUnit opcode) {
  const OpcodeLine line = kOpcodes[opcode].line;
  return line == OpcodeLine::TailCall || line == OpcodeLine::TailCallValue;
}

}  // namespace

Profile::Profile(ProfileOptions options)
    : options_(options),
      start_(Clock::now()),
      clock_cost_(measure_clock()),
      instructions_(kOpcodeCount),
      nodes_{{kRoot, kNoFunction}} {
  // The end of a run must not fail.
  spans_.reserve(options.max_spans);
}

uint64_t Profile::now() const { return since_start(Clock::now()); }
uint64_t Profile::since_start(Clock::time_point time) const { return nanoseconds(time - start_); }

void Profile::begin_run() {
  stack_.clear();
  stepped_ = false;
}

void Profile::step(size_t depth, uint32_t function, CodeUnit opcode) {
  const uint64_t time = now();
  charge(time);
  const bool replaced = stack_.size() == depth + 1 && stepped_ && is_tail_call(last_opcode_);
  while (stack_.size() > depth + (replaced ? 0 : 1)) leave(time);
  while (stack_.size() < depth) enter(kNoFunction, time);
  if (stack_.size() == depth) enter(function, time);
  ++instructions_[opcode].count;
  last_opcode_ = opcode;
  stepped_ = true;
  last_ = now();
}

void Profile::end_run() {
  const uint64_t time = now();
  charge(time);
  while (!stack_.empty()) leave(time);
  stepped_ = false;
}

// The time since the last step belongs to its instruction, function and stack.
void Profile::charge(uint64_t time) {
  if (!stepped_) return;
  const uint64_t elapsed = time - last_ - std::min(time - last_, clock_cost_);
  instructions_[last_opcode_].nanoseconds += elapsed;
  const Activation& top = stack_.back();
  nodes_[top.node].own += elapsed;
  functions_[top.function].own += elapsed;
}

void Profile::enter(uint32_t function, uint64_t time) {
  const uint32_t parent = stack_.empty() ? kRoot : stack_[std::min(stack_.size(), kMaxStackDepth) - 1].node;
  if (function == kNoFunction) {
    stack_.push_back({parent, function, time});
    return;
  }
  stack_.push_back({child(parent, function), function, time});
  if (function >= functions_.size()) functions_.resize(function + size_t{1});
  Totals& totals = functions_[function];
  ++totals.calls;
  if (totals.active++ == 0) totals.entered = time;
}

void Profile::leave(uint64_t time) {
  const Activation top = stack_.back();
  stack_.pop_back();
  if (top.function == kNoFunction) return;
  Totals& totals = functions_[top.function];
  if (--totals.active == 0) totals.with_callees += time - totals.entered;
  keep({TimeSpan::What::Function, top.function, 0, top.start, time - top.start});
}

uint32_t Profile::child(uint32_t parent, uint32_t function) {
  const auto next = static_cast<uint32_t>(nodes_.size());
  const auto known = children_.find({parent, function});
  if (known != children_.end()) return known->second;
  if (nodes_.size() == kMaxNodes) return parent;
  children_.emplace(std::pair(parent, function), next);
  nodes_.push_back({parent, function});
  return next;
}

void Profile::keep(const TimeSpan& span) {
  if (spans_.size() < options_.max_spans)
    spans_.push_back(span);
  else
    ++dropped_spans_;
}

void Profile::add_kernel(uint32_t function, uint32_t unit, Clock::time_point start, Clock::time_point end) {
  KernelTime& time = kernels_.try_emplace({function, unit}, KernelTime{function, unit, 0, 0}).first->second;
  ++time.calls;
  time.nanoseconds += nanoseconds(end - start);
  keep({TimeSpan::What::Kernel, function, unit, since_start(start), nanoseconds(end - start)});
}

std::vector<KernelTime> Profile::kernels() const {
  std::vector<KernelTime> times;
  for (const auto& [place, time] : kernels_) times.push_back(time);
  std::ranges::stable_sort(times, std::ranges::greater(), &KernelTime::nanoseconds);
  return times;
}

std::vector<FunctionTime> Profile::functions() const {
  std::vector<FunctionTime> times;
  for (uint32_t f = 0; f < functions_.size(); ++f)
    if (functions_[f].calls != 0)
      times.push_back({f, functions_[f].calls, functions_[f].own, functions_[f].with_callees});
  std::ranges::stable_sort(times, std::ranges::greater(), &FunctionTime::nanoseconds);
  return times;
}

std::vector<InstructionTime> Profile::instructions() const {
  std::vector<InstructionTime> times;
  for (size_t opcode = 0; opcode < instructions_.size(); ++opcode)
    if (instructions_[opcode].count != 0)
      times.push_back({static_cast<Opcode>(opcode), instructions_[opcode].count, instructions_[opcode].nanoseconds});
  std::ranges::stable_sort(times, std::ranges::greater(), &InstructionTime::nanoseconds);
  return times;
}

void Profile::for_each_stack(
    const std::function<void(std::span<const uint32_t> functions, uint64_t nanoseconds)>& visit) const {
  for (size_t node = kRoot + 1; node < nodes_.size(); ++node) {
    std::vector<uint32_t> functions;
    for (size_t at = node; at != kRoot; at = nodes_[at].parent) functions.push_back(nodes_[at].function);
    std::ranges::reverse(functions);
    visit(functions, nodes_[node].own);
  }
}

}  // namespace ingot::vm
