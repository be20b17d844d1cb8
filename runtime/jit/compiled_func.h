#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/cpu.h"
#include "runtime/jit/frame.h"
#include "runtime/jit/stages.h"
#include "runtime/parallel/thread_team.h"
#include "runtime/tir/interpreter.h"
#include "runtime/tir/nest.h"

namespace ingot::jit {

class PerfMap;

// A PrimFunc as machine code, for concrete dimensions. Immutable; `run` may be called by many threads at once, each
// with scratch of its own.
class CompiledFunc {
 public:
  CompiledFunc() = default;
  // nullptr where the generator does not take the function, or the CPU or the system do not let it: the interpreter
  // runs everything. Otherwise as tir::Interpreter, whose meaning this has: exactly, but for reductions, whose order
  // may change, and for the functions of vector_math.h. `perf_map` may be null; throws Io where it cannot be written.
  static std::unique_ptr<const CompiledFunc> compile(const tir::PrimFunc& func,
                                                     std::span<const std::vector<int64_t>> dims,
                                                     std::span<const int64_t> scalars, Cpu cpu, int threads,
                                                     const PerfMap* perf_map = nullptr);

  // Bytes for temporaries, aligned to 64.
  size_t scratch_bytes() const { return scratch_bytes_; }
  uint64_t work() const { return work_; }
  tir::RunStatus run(std::span<std::byte* const> buffers, std::span<const void* const> scalar_payloads,
                     std::byte* scratch, const ThreadTeam* team, tir::PollPoint poll) const noexcept;
  size_t code_bytes() const {
    return (code_ ? code_->bytes() : 0) + (for_any_alignment_ ? for_any_alignment_->code_bytes() : 0);
  }
  Cpu cpu() const { return cpu_; }
  // May a run fail with IndexOutOfRange? It does not say where: the interpreter does.
  bool checks_indices() const { return checks_indices_; }

 private:
  // One statement of the function's body.
  struct Stage {
    size_t entry = 0;
    size_t aligned_entry = 0;  // where large outputs are aligned to 64 bytes: stores bypass the caches
    int64_t extent = 1;        // of its loop
    int64_t chunk = 1;         // iterations between two polls
    int64_t grain = 1;         // begin must be a multiple
    bool parallel = false;
    std::vector<Stage> parts = {};  // of each iteration, in place of an entry
  };
  struct Temporary {
    size_t offset;
    bool per_thread;
    size_t from_inputs = 0;  // where not 0: how far behind the first buffer it begins within a page
  };
  struct Scalar {
    DType dtype;
    std::optional<int64_t> expected;
  };
  struct Share;
  friend class ShapedFunc;

  // Where not all of it fits the caches, `past`: rows may be stored past them.
  static std::unique_ptr<CompiledFunc> compile_for(const tir::PrimFunc& func,
                                                   std::span<const std::vector<int64_t>> dims,
                                                   std::span<const int64_t> scalars, Cpu cpu, int threads, bool past,
                                                   const PerfMap* perf_map);
  // The stages that have anything to do; false where one could not be stopped for too long.
  bool take(const Code& code, const tir::Nest& nest, const ExtentValue& value);
  static std::optional<Stage> stage_of(const StageCode& from, uint64_t work, const ExtentValue& value);
  // Where buffers lie.
  void lay_out(const tir::Nest& nest, std::span<const tir::NestBuffer> buffers,
               std::span<const std::optional<int64_t>> scalars);
  void run_range(const Stage& stage, Share& share, int64_t begin, int64_t end) const;
  void run_chunks(const Stage& stage, Share& share, Frame& frame, int64_t begin, int64_t end, bool polls) const;

  std::shared_ptr<const CodeMemory> code_;
  std::vector<int64_t> dims_;  // of shaped code: the values of the nest's `vars`
  Cpu cpu_ = Cpu::Any;
  bool checks_indices_ = false;
  std::vector<Stage> stages_;
  std::vector<Temporary> temporaries_;  // the buffers that are no parameters
  std::vector<size_t> temporary_bytes_;
  std::vector<std::pair<tir::BufferId, size_t>> zero_fill_;
  std::vector<Scalar> scalars_;
  std::vector<tir::BufferId> large_;  // outputs
  // Where rows stored past the caches are computed otherwise than those of outputs that are not aligned for it.
  std::unique_ptr<const CompiledFunc> for_any_alignment_;
  size_t params_ = 0;
  size_t tables_ = 0, table_bytes_ = 0;  // buffer addresses, one table for each thread
  int threads_ = 1;
  size_t scratch_bytes_ = 0;
  uint64_t work_ = 1;
};

// A PrimFunc as machine code for all values of some of its dimensions. Immutable.
class ShapedFunc {
 public:
  ShapedFunc() = default;
  // As tir::make_shaped_nest; nullptr also where the generator would have to know the dimensions to make code that is
  // about as fast. `func` outlives the result. `perf_map` as above.
  static std::unique_ptr<const ShapedFunc> compile(const tir::PrimFunc& func,
                                                   std::span<const std::vector<int64_t>> dims,
                                                   std::span<const uint32_t> varying, Cpu cpu, int threads,
                                                   const PerfMap* perf_map = nullptr);
  // The function for dimensions that agree with those of `compile` where they do not vary, in microseconds: the code
  // is shared. nullptr where these are too large or zero. Throws ShapeMismatch as tir::shape_of.
  std::unique_ptr<const CompiledFunc> at(std::span<const std::vector<int64_t>> dims, int threads) const;
  size_t code_bytes() const { return code_.memory ? code_.memory->bytes() : 0; }

 private:
  const tir::PrimFunc* func_ = nullptr;
  Cpu cpu_ = Cpu::Any;
  tir::Nest nest_;
  Code code_;
};

}  // namespace ingot::jit
