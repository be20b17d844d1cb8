#include "runtime/jit/compiled_func.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "runtime/base/checked.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/jit/emitter_avx2.h"
#include "runtime/jit/emitter_avx512.h"
#include "runtime/jit/hoist_constants.h"
#include "runtime/jit/lowering.h"
#include "runtime/jit/rows_in_outputs.h"

namespace ingot::jit {
namespace {

using tir::NestLoop;
using tir::NestStmt;

constexpr size_t kCodeBytes = size_t{1} << 18;
constexpr size_t kAlignment = 64;
// Iterations of innermost bodies between two polls, and the least that is worth a second thread.
constexpr uint64_t kPollWork = uint64_t{1} << 20;
constexpr uint64_t kParallelWork = uint64_t{1} << 14;
// Outputs of this size leave the caches before anybody reads them.
constexpr size_t kLargeBytes = size_t{1} << 25;

uint64_t work_of(const std::vector<NestStmt>& body);
uint64_t work_of(const NestStmt& stmt) {
  if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
    const auto extent = static_cast<uint64_t>(std::max<int64_t>(loop->extent.as_const().value_or(1), 0));
    return checked_mul(std::max<uint64_t>(work_of(loop->body), 1), extent).value_or(UINT64_MAX);
  }
  if (const auto* branch = std::get_if<tir::NestIf>(&stmt.node))
    return std::max(work_of(branch->then_body), work_of(branch->else_body));
  return 1;
}
uint64_t work_of(const std::vector<NestStmt>& body) {
  uint64_t total = 0;
  for (const NestStmt& stmt : body) total = checked_add(total, work_of(stmt)).value_or(UINT64_MAX);
  return total;
}

std::unique_ptr<Emitter> make_emitter(Cpu cpu, std::span<uint8_t> buffer) {
  if (cpu >= Cpu::Avx512) return std::make_unique<EmitterAvx512>(buffer);
  return std::make_unique<EmitterAvx2>(buffer);
}

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

}  // namespace

// Each statement of the body as a function of its own, so that its outermost loop can be shared and interrupted.
class CompiledFunc::StageCompiler {
 public:
  StageCompiler(const tir::Nest& nest, Cpu cpu, Emitter& emitter, const std::unordered_set<tir::BufferId>& large)
      : nest_(nest), cpu_(cpu), emitter_(emitter), large_(large) {}

  std::vector<Stage> run() {
    const bool shares_lets = std::ranges::any_of(
        nest_.body, [](const NestStmt& stmt) { return std::holds_alternative<tir::NestLet>(stmt.node); });
    if (shares_lets) {
      compile([&](Lowering& lowering, Stage&) {
        for (const NestStmt& stmt : nest_.body) lowering.run(stmt, false);
      });
    } else {
      for (const NestStmt& stmt : nest_.body) add(stmt);
    }
    return std::move(stages_);
  }

 private:
  void add(const NestStmt& stmt) {
    const auto* loop = std::get_if<NestLoop>(&stmt.node);
    const auto extent = loop ? loop->extent.as_const() : std::nullopt;
    if (extent && *extent <= 0) return;
    const auto copy = cpu_ >= Cpu::Avx512 ? as_tiled_copy(stmt, 16) : std::nullopt;
    if (copy) {
      compile([&](Lowering& lowering, Stage& stage) { stage.grain = lowering.run(*copy, stage.extent); });
      share(stages_.back(), work_of(stmt), true);
      for (const NestStmt& border : copy->borders) add(border);
      return;
    }
    compile([&](Lowering& lowering, Stage& stage) {
      stage.extent = extent.value_or(1);
      stage.grain = lowering.run(stmt, extent.has_value());
    });
    if (extent) share(stages_.back(), work_of(stmt), loop->kind == tir::LoopKind::Parallel || is_independent(*loop));
  }

  template <typename Lower>
  void compile(Lower lower) {
    Stage stage;
    const auto emit = [&](const std::unordered_set<tir::BufferId>& stream) {
      Function function;
      Lowering lowering(nest_, function, cpu_, cpu_ >= Cpu::Avx512 ? EmitterAvx512::kLanes : EmitterAvx2::kLanes,
                        stream);
      lower(lowering, stage);
      function.streams = lowering.streams();
      if (cpu_ >= Cpu::Avx512) hoist_constants(function);
      return std::pair(emitter_.emit(function), function.streams);
    };
    stage.entry = stage.aligned_entry = emit({}).first;
    if (!large_.empty())
      if (const auto [entry, streams] = emit(large_); streams) stage.aligned_entry = entry;
    stages_.push_back(stage);
  }

  static void share(Stage& stage, uint64_t work, bool parallel) {
    const uint64_t each = std::max<uint64_t>(work / static_cast<uint64_t>(stage.extent), 1);
    const auto steps = static_cast<int64_t>(kPollWork / each) / stage.grain;
    stage.chunk = std::max<int64_t>(steps, 1) * stage.grain;
    stage.parallel = parallel && work >= kParallelWork;
  }

  const tir::Nest& nest_;
  Cpu cpu_;
  Emitter& emitter_;
  const std::unordered_set<tir::BufferId>& large_;
  std::vector<Stage> stages_;
};

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
                                                          std::span<const int64_t> scalars, Cpu cpu, int threads) {
  if (cpu < Cpu::Avx2) return nullptr;
  tir::Nest nest = tir::make_nest(func, dims, scalars);
  std::unordered_set<tir::BufferId> large;
  for (auto id = static_cast<tir::BufferId>(func.params - func.outputs); id < func.params; ++id)
    if (nest.buffers[id].bytes >= kLargeBytes) large.insert(id);
  interchange_sums(nest);
  keep_rows_in_outputs(nest, large);
  join_loops(nest);
  auto result = std::make_unique<CompiledFunc>();
  result->cpu_ = cpu;
  result->params_ = nest.params;
  result->work_ = nest.work;
  result->threads_ = std::max(threads, 1);
  for (size_t i = 0; i < nest.scalars.size(); ++i)
    result->scalars_.push_back({nest.scalars[i].var->dtype, nest.scalar_values[i]});
  result->large_.assign(large.begin(), large.end());

  const auto code = std::make_unique_for_overwrite<uint8_t[]>(kCodeBytes);
  const std::unique_ptr<Emitter> emitter = make_emitter(cpu, {code.get(), kCodeBytes});
  try {
    StageCompiler stages(nest, cpu, *emitter, large);
    result->stages_ = stages.run();
    const size_t bytes = emitter->finish();
    if (auto memory = CodeMemory::make(std::as_bytes(std::span(code.get(), bytes))))
      result->code_.emplace(std::move(*memory));
  } catch (const Refusal&) {
    return nullptr;
  } catch (const Xbyak::Error&) {
    return nullptr;
  }
  std::vector<bool> per_thread(nest.buffers.size());
  for (const NestStmt& stmt : nest.body)
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node))
      for (const tir::BufferId id : loop->owned) per_thread[id] = true;
  if (!result->code_ && !result->stages_.empty()) return nullptr;

  Layout layout;
  const auto add = [&](size_t bytes) {
    const auto at = layout.add(bytes);
    if (!at)
      fail(ErrorCode::ResourceExhausted, "the temporaries of a prim_func need more memory than can be addressed");
    return *at;
  };
  result->table_bytes_ = *checked_align_up(nest.buffers.size() * sizeof(std::byte*), kAlignment);
  result->tables_ = add(result->table_bytes_ * static_cast<size_t>(result->threads_));
  for (size_t id = 0; id < nest.buffers.size(); ++id) {
    if (nest.buffers[id].zero_fill)
      result->zero_fill_.emplace_back(static_cast<tir::BufferId>(id), nest.buffers[id].bytes);
    if (id < nest.params) continue;
    const size_t bytes = nest.buffers[id].bytes;
    Temporary temporary{add(bytes), per_thread[id]};
    for (int thread = 1; per_thread[id] && thread < result->threads_; ++thread) add(bytes);
    result->temporaries_.push_back(temporary);
  }
  for (size_t id = nest.params; id < nest.buffers.size(); ++id)
    result->temporary_bytes_.push_back(*checked_align_up(nest.buffers[id].bytes, kAlignment));
  result->scratch_bytes_ = layout.size();
  return result;
}

void CompiledFunc::run_range(const Stage& stage, Share& share, int64_t begin, int64_t end) const {
  const int thread = share.next_thread.fetch_add(1, std::memory_order_relaxed);
  Frame frame{reinterpret_cast<std::byte* const*>(share.scratch + tables_ + table_bytes_ * static_cast<size_t>(thread)),
              share.scalars, begin, begin, 0};
  const auto entry = code_->entry<Entry>(share.aligned ? stage.aligned_entry : stage.entry);
  while (frame.begin < end && share.fault.load(std::memory_order_relaxed) == 0) {
    frame.end = std::min(frame.begin + stage.chunk, end);
    entry(&frame);
    if (frame.fault != 0) share.fault = frame.fault;
    frame.begin = frame.end;
    if (thread == 0 && frame.begin < end && share.poll.poll != nullptr && share.poll.poll(share.poll.context))
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

  const size_t count = params_ + temporaries_.size();
  for (int thread = 0; thread < threads_; ++thread) {
    auto** table = reinterpret_cast<std::byte**>(scratch + tables_ + table_bytes_ * static_cast<size_t>(thread));
    std::ranges::copy(buffers, table);
    for (size_t i = params_; i < count; ++i) {
      const Temporary& temporary = temporaries_[i - params_];
      table[i] = scratch + temporary.offset;
      if (temporary.per_thread) table[i] += temporary_bytes_[i - params_] * static_cast<size_t>(thread);
    }
  }
  auto* const* table = reinterpret_cast<std::byte* const*>(scratch + tables_);
  for (const auto& [id, bytes] : zero_fill_) std::memset(table[id], 0, bytes);

  const bool aligned = std::ranges::all_of(
      large_, [&](tir::BufferId id) { return reinterpret_cast<uintptr_t>(buffers[id]) % kAlignment == 0; });
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
