#include "runtime/jit/compiled_func.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "runtime/base/checked.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/jit/ir.h"
#include "runtime/jit/perf_map.h"
#include "runtime/jit/reorder_loops.h"
#include "runtime/jit/rows_in_outputs.h"
#include "runtime/jit/split_columns.h"

namespace ingot::jit {
namespace {

constexpr size_t kAlignment = 64;
// Iterations of innermost bodies between two polls, and the least that is worth a second thread.
constexpr uint64_t kPollWork = uint64_t{1} << 20;
constexpr uint64_t kParallelWork = uint64_t{1} << 14;
// Outputs of this size leave the caches before anybody reads them.
constexpr size_t kLargeBytes = size_t{1} << 25;
// To the machine, a load within a page may look like a store a little in front of it, and waits for that: temporary
// rows begin half a page behind what is read beside them, each of them elsewhere.
constexpr size_t kPage = 4096, kLongRow = 1024, kBetweenRows = 512;

class Layout {
 public:
  std::optional<size_t> add(size_t bytes) {
    const auto padded = checked_align_up(bytes, kAlignment);
    const auto end = padded ? checked_add(size_, *padded) : std::nullopt;
    if (!end) return std::nullopt;
    return std::exchange(size_, *end);
  }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

tir::RunStatus status_of(Fault fault) {
  switch (fault) {
    case Fault::None:
      return {};
    case Fault::DivisionByZero:
      return {ErrorCode::DivisionByZero, true, "an integer is divided by zero"};
    case Fault::IndexOutOfRange:
      return {ErrorCode::IndexOutOfRange, true, "an index lies outside of its buffer"};
    case Fault::Overflow:
      return {ErrorCode::ShapeMismatch, true, "an index expression overflows int64"};
    case Fault::Stopped:
      return {ErrorCode::Cancelled, true, "the run was asked to stop"};
  }
  return {ErrorCode::Internal, true, "generated code gives an unknown status"};
}

// Of the parameters.
std::unordered_set<tir::BufferId> large_outputs(const tir::PrimFunc& func, std::span<const tir::NestBuffer> buffers) {
  std::unordered_set<tir::BufferId> large;
  for (auto id = static_cast<tir::BufferId>(func.params - func.outputs); id < func.params; ++id)
    if (buffers[id].bytes >= kLargeBytes) large.insert(id);
  return large;
}

// Half of what is read and written may be stored past the caches if all of it does not fit the last one.
size_t past_from(const tir::Nest& nest) {
  size_t bytes = 0;
  for (size_t id = 0; id < nest.params; ++id) bytes += nest.buffers[id].bytes;
  return bytes >= kLargeBytes ? kLargeBytes / 2 : SIZE_MAX;
}

void reorder(tir::Nest& nest, std::unordered_set<tir::BufferId>& large, size_t past_from, Cpu cpu, int threads) {
  split_columns(nest, lanes_of(cpu));
  interchange_sums(nest, threads);
  keep_rows_in_outputs(nest, large, past_from);
  join_loops(nest);
}

}  // namespace

// What the threads of one run have in common.
struct CompiledFunc::Share {
  const CompiledFunc* func;
  bool aligned;
  const Stage* stage = nullptr;
  std::byte* scratch;
  const void* const* scalars;
  tir::PollPoint poll;
  std::atomic<int> next_thread = 0;
  std::atomic<uint64_t> fault = 0;
};

std::unique_ptr<const CompiledFunc> CompiledFunc::compile(const tir::PrimFunc& func,
                                                          std::span<const std::vector<int64_t>> dims,
                                                          std::span<const int64_t> scalars, Cpu cpu, int threads,
                                                          const PerfMap* perf_map) {
  if (cpu < Cpu::Avx2) return nullptr;
  return compile_for(func, dims, scalars, cpu, threads, cpu >= Cpu::Avx512, perf_map);
}

std::unique_ptr<CompiledFunc> CompiledFunc::compile_for(const tir::PrimFunc& func,
                                                        std::span<const std::vector<int64_t>> dims,
                                                        std::span<const int64_t> scalars, Cpu cpu, int threads,
                                                        bool past, const PerfMap* perf_map) {
  tir::Nest nest = tir::make_nest(func, dims, scalars);
  auto large = large_outputs(func, nest.buffers);
  const size_t others = large.size();
  reorder(nest, large, past ? past_from(nest) : SIZE_MAX, cpu, threads);
  const auto code = generate(nest, cpu, large);
  if (!code) return nullptr;
  if (perf_map != nullptr) perf_map->add(*code, perf_name(func, dims));
  auto result = std::make_unique<CompiledFunc>();
  result->cpu_ = cpu;
  result->work_ = nest.work;
  result->threads_ = std::max(threads, 1);
  result->large_.assign(large.begin(), large.end());
  if (!result->take(*code, nest, [](const PrimExpr& extent) { return extent.as_const().value_or(1); })) return nullptr;
  result->lay_out(nest, nest.buffers, nest.scalar_values);
  if (large.size() == others) return result;
  result->for_any_alignment_ = compile_for(func, dims, scalars, cpu, threads, false, perf_map);
  if (!result->for_any_alignment_) return nullptr;
  result->scratch_bytes_ = std::max(result->scratch_bytes_, result->for_any_alignment_->scratch_bytes_);
  return result;
}

bool CompiledFunc::take(const Code& code, const tir::Nest& nest, const ExtentValue& value) {
  code_ = code.memory;
  checks_indices_ = code.checks_indices;
  for (const StageCode& from : code.stages) {
    uint64_t work = from.work;
    for (const tir::NestStmt& stmt : nest.body)
      if (from.work == 0 && (from.stmt == nullptr || from.stmt == &stmt))
        work = checked_add(work, work_of(stmt, value)).value_or(UINT64_MAX);
    if (value(from.extent) <= 0) continue;
    auto stage = stage_of(from, work, value);
    if (!stage) return false;
    stages_.push_back(std::move(*stage));
  }
  return true;
}

std::optional<CompiledFunc::Stage> CompiledFunc::stage_of(const StageCode& from, uint64_t work,
                                                          const ExtentValue& value) {
  Stage stage{.entry = from.entry, .aligned_entry = from.aligned_entry, .extent = value(from.extent)};
  stage.grain = from.grain;
  stage.parallel = from.independent && work >= kParallelWork;
  for (const StageCode& part : from.parts) {
    auto made = stage_of(part, part.work, value);
    if (!made) return std::nullopt;
    stage.parts.push_back(std::move(*made));
  }
  if (!stage.parts.empty()) return stage;
  const uint64_t each = std::max<uint64_t>(work / static_cast<uint64_t>(stage.extent), 1);
  if (each > kMostUnpolledWork) return std::nullopt;
  const auto steps = static_cast<int64_t>(kPollWork / each) / stage.grain;
  stage.chunk = std::max<int64_t>(steps, 1) * stage.grain;
  return stage;
}

void CompiledFunc::lay_out(const tir::Nest& nest, std::span<const tir::NestBuffer> buffers,
                           std::span<const std::optional<int64_t>> scalars) {
  params_ = nest.params;
  for (size_t i = 0; i < nest.scalars.size(); ++i) scalars_.push_back({nest.scalars[i].var->dtype, scalars[i]});
  std::vector<bool> per_thread(buffers.size());
  for (const tir::NestStmt& stmt : nest.body)
    if (const auto* loop = std::get_if<tir::NestLoop>(&stmt.node))
      for (const tir::BufferId id : loop->owned) per_thread[id] = true;

  Layout layout;
  const auto add = [&](size_t bytes) {
    const auto at = layout.add(bytes);
    if (!at)
      fail(ErrorCode::ResourceExhausted, "the temporaries of a prim_func need more memory than can be addressed");
    return *at;
  };
  size_t rows = 0;
  table_bytes_ = *checked_align_up(buffers.size() * sizeof(std::byte*), kAlignment);
  tables_ = add(table_bytes_ * static_cast<size_t>(threads_));
  for (size_t id = 0; id < buffers.size(); ++id) {
    const size_t bytes = buffers[id].bytes;
    if (buffers[id].zero_fill) zero_fill_.emplace_back(static_cast<tir::BufferId>(id), bytes);
    if (id < params_) continue;
    Temporary temporary{0, per_thread[id]};
    size_t size = bytes;
    if (per_thread[id] && params_ > 0 && bytes >= kLongRow) {
      temporary.from_inputs = kPage / 2 + rows++ * kBetweenRows % kPage;
      size += kPage;
    }
    temporary.offset = add(size);
    for (int thread = 1; per_thread[id] && thread < threads_; ++thread) add(size);
    temporaries_.push_back(temporary);
    temporary_bytes_.push_back(*checked_align_up(size, kAlignment));
  }
  scratch_bytes_ = layout.size();
}

std::unique_ptr<const ShapedFunc> ShapedFunc::compile(const tir::PrimFunc& func,
                                                      std::span<const std::vector<int64_t>> dims,
                                                      std::span<const uint32_t> varying, Cpu cpu, int threads,
                                                      const PerfMap* perf_map) {
  if (cpu < Cpu::Avx2) return nullptr;
  auto nest = tir::make_shaped_nest(func, dims, varying);
  if (!nest) return nullptr;
  auto result = std::make_unique<ShapedFunc>();
  result->func_ = &func;
  result->cpu_ = cpu;
  result->nest_ = std::move(*nest);
  std::unordered_set<tir::BufferId> large;
  reorder(result->nest_, large, SIZE_MAX, cpu, threads);
  auto code = generate(result->nest_, cpu, {});
  if (!code) return nullptr;
  if (perf_map != nullptr) perf_map->add(*code, perf_name(func, dims, varying));
  result->code_ = std::move(*code);
  return result;
}

std::unique_ptr<const CompiledFunc> ShapedFunc::at(std::span<const std::vector<int64_t>> dims, int threads) const {
  tir::FuncShape shape = tir::shape_of(*func_, dims, {});
  for (size_t id = 0; id < shape.buffers.size(); ++id) shape.buffers[id].zero_fill = nest_.buffers[id].zero_fill;
  auto result = std::make_unique<CompiledFunc>();
  for (const SymVar& var : nest_.vars) {
    const int64_t value = shape.values.at(var.get());
    if (value < 1 || value > tir::kMostOfShaped) return nullptr;
    result->dims_.push_back(value);
  }
  if (!large_outputs(*func_, shape.buffers).empty()) return nullptr;
  const Bindings known = tir::lookup(shape.values);
  const ExtentValue value = [&](const PrimExpr& extent) { return evaluate(extent, known); };
  result->cpu_ = cpu_;
  result->threads_ = std::max(threads, 1);
  if (!result->take(code_, nest_, value)) return nullptr;
  result->lay_out(nest_, shape.buffers, shape.scalars);
  result->work_ = std::max<uint64_t>(work_of(nest_.body, value), 1);
  return result;
}

void CompiledFunc::run_range(const Stage& stage, Share& share, int64_t begin, int64_t end) const {
  const int thread = share.next_thread.fetch_add(1, std::memory_order_relaxed);
  Frame frame{reinterpret_cast<std::byte* const*>(share.scratch + tables_ + table_bytes_ * static_cast<size_t>(thread)),
              share.scalars,
              begin,
              begin,
              0,
              dims_.data(),
              0};
  const bool polls = thread == 0 && share.poll.poll != nullptr;
  if (stage.parts.empty()) return run_chunks(stage, share, frame, begin, end, polls);
  for (frame.outer = begin; frame.outer < end; ++frame.outer)
    for (const Stage& part : stage.parts) {
      run_chunks(part, share, frame, 0, part.extent, polls);
      if (share.fault != 0) return;
      if (polls && share.poll.poll(share.poll.context)) share.fault = static_cast<uint64_t>(Fault::Stopped);
    }
}

void CompiledFunc::run_chunks(const Stage& stage, Share& share, Frame& frame, int64_t begin, int64_t end,
                              bool polls) const {
  const auto entry = code_->entry<Entry>(share.aligned ? stage.aligned_entry : stage.entry);
  frame.begin = begin;
  while (frame.begin < end && share.fault.load(std::memory_order_relaxed) == 0) {
    frame.end = std::min(frame.begin + stage.chunk, end);
    entry(&frame);
    if (frame.fault != 0) share.fault = frame.fault;
    frame.begin = frame.end;
    if (polls && frame.begin < end && share.poll.poll(share.poll.context))
      share.fault = static_cast<uint64_t>(Fault::Stopped);
  }
}

tir::RunStatus CompiledFunc::run(std::span<std::byte* const> buffers, std::span<const void* const> scalar_payloads,
                                 std::byte* scratch, const ThreadTeam* team, tir::PollPoint poll) const noexcept {
  if (buffers.size() != params_ || scalar_payloads.size() != scalars_.size())
    return {ErrorCode::Internal, true, "a prim_func is run with the wrong number of arguments"};
  for (size_t i = 0; i < scalars_.size(); ++i)
    if (scalars_[i].expected && *scalars_[i].expected != load_element<int64_t>(scalar_payloads[i]))
      return {ErrorCode::ShapeMismatch, true, "a scalar differs from the value that the prim_func was prepared for"};

  const bool aligned = std::ranges::all_of(
      large_, [&](tir::BufferId id) { return reinterpret_cast<uintptr_t>(buffers[id]) % kAlignment == 0; });
  if (!aligned && for_any_alignment_) return for_any_alignment_->run(buffers, scalar_payloads, scratch, team, poll);

  const size_t count = params_ + temporaries_.size();
  for (int thread = 0; thread < threads_; ++thread) {
    auto** table = reinterpret_cast<std::byte**>(scratch + tables_ + table_bytes_ * static_cast<size_t>(thread));
    std::ranges::copy(buffers, table);
    for (size_t i = params_; i < count; ++i) {
      const Temporary& temporary = temporaries_[i - params_];
      table[i] = scratch + temporary.offset;
      if (temporary.per_thread) table[i] += temporary_bytes_[i - params_] * static_cast<size_t>(thread);
      if (temporary.from_inputs != 0) {
        const auto begin = reinterpret_cast<uintptr_t>(buffers[0]) + temporary.from_inputs;
        table[i] += (begin - reinterpret_cast<uintptr_t>(table[i])) % kPage / kAlignment * kAlignment;
      }
    }
  }
  auto* const* table = reinterpret_cast<std::byte* const*>(scratch + tables_);
  for (const auto& [id, bytes] : zero_fill_) std::memset(table[id], 0, bytes);

  Share share{.func = this, .aligned = aligned, .scratch = scratch, .scalars = scalar_payloads.data(), .poll = poll};
  for (size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    share.stage = &stage;
    share.next_thread = 0;
    const int64_t steps = (stage.extent + stage.grain - 1) / stage.grain;
    if (stage.parallel && team != nullptr && team->size() > 1 && team->size() <= threads_ && steps > 1) {
      team->parallel_for(
          steps,
          [](void* context, int64_t begin, int64_t end) {
            auto& shared = *static_cast<Share*>(context);
            const Stage& part = *shared.stage;
            shared.func->run_range(part, shared, begin * part.grain, std::min(end * part.grain, part.extent));
          },
          &share);
    } else {
      run_range(stage, share, 0, stage.extent);
    }
    if (share.fault != 0) return status_of(static_cast<Fault>(share.fault.load()));
    const bool last = i + 1 == stages_.size();
    if (!last && poll.poll != nullptr && poll.poll(poll.context)) return status_of(Fault::Stopped);
  }
  return {};
}

}  // namespace ingot::jit
