#include "runtime/jit/stages.h"

#include <algorithm>

#include "runtime/base/checked.h"
#include "runtime/jit/emitter_avx2.h"
#include "runtime/jit/emitter_avx512.h"
#include "runtime/jit/hoist_constants.h"
#include "runtime/jit/lowering.h"

namespace ingot::jit {
namespace {

using tir::NestLoop;
using tir::NestStmt;

constexpr size_t kCodeBytes = size_t{1} << 18;

std::unique_ptr<Emitter> make_emitter(Cpu cpu, std::span<uint8_t> buffer) {
  if (cpu >= Cpu::Avx512) return std::make_unique<EmitterAvx512>(buffer);
  return std::make_unique<EmitterAvx2>(buffer);
}

// Each statement of the body as a function of its own, so that its outermost loop can be shared and interrupted.
class StageCompiler {
 public:
  StageCompiler(const tir::Nest& nest, Cpu cpu, Emitter& emitter, const std::unordered_set<tir::BufferId>& large)
      : nest_(nest), cpu_(cpu), emitter_(emitter), large_(large) {}

  std::vector<StageCode> run() {
    const bool shares_lets = std::ranges::any_of(
        nest_.body, [](const NestStmt& stmt) { return std::holds_alternative<tir::NestLet>(stmt.node); });
    if (shares_lets) {
      compile(nullptr, [&](Lowering& lowering, StageCode&) {
        for (const NestStmt& stmt : nest_.body) lowering.run(stmt, false);
      });
    } else {
      for (const NestStmt& stmt : nest_.body) add(stmt, &stmt);
    }
    return std::move(stages_);
  }

 private:
  // `known`: the statement itself where the nest has it, null for the border of a copy.
  void add(const NestStmt& stmt, const NestStmt* known) {
    const auto* loop = std::get_if<NestLoop>(&stmt.node);
    const auto extent = loop ? loop->extent.as_const() : std::nullopt;
    if (extent && *extent <= 0) return;
    const auto copy = cpu_ >= Cpu::Avx512 ? as_tiled_copy(stmt, 16) : std::nullopt;
    if (copy) {
      compile(known, [&](Lowering& lowering, StageCode& stage) {
        int64_t steps = 1;
        stage.grain = lowering.run(*copy, steps);
        stage.extent = steps;
      });
      stages_.back().independent = true;
      for (const NestStmt& border : copy->borders) add(border, nullptr);
      return;
    }
    if (const auto shaped = as_shaped_copy(stmt); shaped && (!nest_.vars.empty() || is_thin(*shaped))) {
      if (cpu_ < Cpu::Avx512) throw Refusal{};
      compile(known, [&](Lowering& lowering, StageCode& stage) { stage.grain = lowering.run(*shaped, stage.extent); });
      if (known == nullptr) stages_.back().work = work_of_known(stmt);
      stages_.back().independent = true;
      return;
    }
    if (extent && nest_.vars.empty() && add_parts(*loop, known)) return;
    const bool ranged = extent || (loop != nullptr && !nest_.vars.empty());
    compile(known, [&](Lowering& lowering, StageCode& stage) {
      if (ranged) stage.extent = loop->extent;
      stage.grain = lowering.run(stmt, ranged);
    });
    if (known == nullptr) stages_.back().work = work_of_known(stmt);
    if (ranged) stages_.back().independent = may_be_shared(*loop);
  }

  // May threads have iterations of it? Not where one reads what an earlier one left in a temporary.
  bool may_be_shared(const NestLoop& loop) const {
    const auto keeps = [&](tir::BufferId id) { return nest_.buffers[id].zero_fill; };
    return (loop.kind == tir::LoopKind::Parallel || is_independent(loop)) && std::ranges::none_of(loop.owned, keeps);
  }

  // Of known extents, too few for whole tiles along one of the axes.
  bool is_thin(const ShapedCopy& copy) const {
    const auto runs_on = [](const NestLoop* loop) { return loop->extent.as_const().value_or(1) > 1; };
    return cpu_ >= Cpu::Avx512 && large_.empty() && runs_on(copy.row) && runs_on(copy.column);
  }

  static uint64_t work_of_known(const NestStmt& stmt) {
    return work_of(stmt, [](const PrimExpr& e) { return e.as_const().value_or(1); });
  }

  // A loop whose iterations are too long to wait for: false where it is not, or its statements need what others bind.
  bool add_parts(const NestLoop& loop, const NestStmt* known) {
    const auto is_let = [](const NestStmt& stmt) { return std::holds_alternative<tir::NestLet>(stmt.node); };
    uint64_t work = 0;
    for (const NestStmt& stmt : loop.body) work = checked_add(work, work_of_known(stmt)).value_or(UINT64_MAX);
    if (work <= kMostUnpolledWork || std::ranges::any_of(loop.body, is_let)) return false;
    StageCode whole;
    whole.stmt = known;
    whole.extent = loop.extent;
    whole.independent = may_be_shared(loop);
    std::vector<StageCode> others = std::exchange(stages_, {});
    for (const NestStmt& stmt : loop.body) {
      const auto* inner = std::get_if<NestLoop>(&stmt.node);
      const bool ranged = inner != nullptr && inner->extent.as_const();
      if (ranged && *inner->extent.as_const() <= 0) continue;
      compile(nullptr, [&](Lowering& lowering, StageCode& stage) {
        if (ranged) stage.extent = inner->extent;
        lowering.within(loop);
        stage.grain = lowering.run(stmt, ranged);
      });
      stages_.back().work = std::max<uint64_t>(work_of_known(stmt), 1);
    }
    whole.parts = std::exchange(stages_, std::move(others));
    stages_.push_back(std::move(whole));
    return true;
  }

  template <typename Lower>
  void compile(const NestStmt* stmt, Lower lower) {
    StageCode stage;
    stage.stmt = stmt;
    const auto emit = [&](const std::unordered_set<tir::BufferId>& stream) {
      Function function;
      Lowering lowering(nest_, function, cpu_, lanes_of(cpu_), stream);
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

  const tir::Nest& nest_;
  Cpu cpu_;
  Emitter& emitter_;
  const std::unordered_set<tir::BufferId>& large_;
  std::vector<StageCode> stages_;
};

}  // namespace

uint64_t work_of(const std::vector<NestStmt>& body, const ExtentValue& value) {
  uint64_t total = 0;
  for (const NestStmt& stmt : body) total = checked_add(total, work_of(stmt, value)).value_or(UINT64_MAX);
  return total;
}

uint64_t work_of(const NestStmt& stmt, const ExtentValue& value) {
  if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
    const auto extent = static_cast<uint64_t>(std::max<int64_t>(value(loop->extent), 0));
    return checked_mul(std::max<uint64_t>(work_of(loop->body, value), 1), extent).value_or(UINT64_MAX);
  }
  if (const auto* branch = std::get_if<tir::NestIf>(&stmt.node))
    return std::max(work_of(branch->then_body, value), work_of(branch->else_body, value));
  return 1;
}

uint8_t lanes_of(Cpu cpu) { return cpu >= Cpu::Avx512 ? EmitterAvx512::kLanes : EmitterAvx2::kLanes; }

std::optional<Code> generate(const tir::Nest& nest, Cpu cpu, const std::unordered_set<tir::BufferId>& large) {
  const auto bytes = std::make_unique_for_overwrite<uint8_t[]>(kCodeBytes);
  const std::unique_ptr<Emitter> emitter = make_emitter(cpu, {bytes.get(), kCodeBytes});
  try {
    Code code;
    code.stages = StageCompiler(nest, cpu, *emitter, large).run();
    if (code.stages.empty()) return code;
    code.checks_indices = emitter->checks_indices();
    const size_t used = emitter->finish();
    auto memory = CodeMemory::make(std::as_bytes(std::span(bytes.get(), used)));
    if (!memory) return std::nullopt;
    code.bytes = used;
    code.memory = std::make_shared<const CodeMemory>(std::move(*memory));
    return code;
  } catch (const Refusal&) {
    return std::nullopt;
  } catch (const Xbyak::Error&) {
    return std::nullopt;
  }
}

}  // namespace ingot::jit
