#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/cpu.h"
#include "runtime/kernels/kernel_call.h"
#include "runtime/kernels/pack_cache.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tir/interpreter.h"

namespace ingot {

class FamilyCache;
class ThreadTeam;
namespace jit {
class PerfMap;
}

// One operand as the kernel will find it. `constant` is set where the elements are known when the kernel is prepared
// (weights): row-major, of the executable. `value` is that of an int64 scalar, where it is known then: sizes and loops
// may depend on it.
struct OperandSpec {
  DType dtype = DType::None;
  Layout layout = Layout::RowMajor;
  std::vector<int64_t> dims = {};  // logical, whatever the layout
  const std::byte* constant = nullptr;
  std::optional<int64_t> value = std::nullopt;
  uint32_t varying = 0;  // bit d: the same call will be prepared for other values of dimension d

  bool varies(size_t d) const { return d < 32 && (varying >> d & 1) != 0; }
};

// A kernel call with everything known that preparing needs.
struct Problem {
  const KernelCall* call;
  std::span<const OperandSpec> inputs;
  std::span<const OperandSpec> outputs;
  Cpu cpu = Cpu::Any;             // what may be used, at most what the machine has
  ThreadTeam* threads = nullptr;  // null: one thread
  PackCache* packs = nullptr;     // null: nothing is shared
  // Where set, kernels whose dimensions vary may share what does not depend on these.
  FamilyCache* families = nullptr;
  const jit::PerfMap* perf_map = nullptr;  // where generated code is named; null: nowhere
};

// What a call finds when it runs. Addresses are those of the elements in the layouts of the problem; rank-0 operands
// are addressed at their payload.
struct KernelArgs {
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  std::byte* scratch;  // scratch_bytes() bytes, aligned to 64
  tir::PollPoint poll = {};
};

// A prepared kernel: immutable, usable by many threads at once, each with scratch of its own.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Allocates nothing, throws nothing.
  virtual tir::RunStatus run(const KernelArgs& args) const noexcept = 0;
  // Of a run with these arguments that failed: where and why, at the cost of time, of memory and of what the outputs
  // hold.
  virtual tir::RunStatus explain([[maybe_unused]] const KernelArgs& args, const tir::RunStatus& status) const {
    return status;
  }
  virtual size_t scratch_bytes() const { return 0; }
  // May output 0 lie exactly on the memory of this input (an elementwise operation, a residual sum)? Never on one whose
  // elements lie otherwise than the output's. Where the planner uses it, the addresses are equal, and no other input
  // lies there.
  virtual bool runs_in_place([[maybe_unused]] size_t input) const { return false; }
  // What the implementation calls itself: "jit:avx512_core", for `inspect`.
  virtual std::string_view implementation() const = 0;
  // Charged against the instruction budget.
  virtual uint64_t work() const { return 1; }
};

// One line of kernels.def. `make` may still give null: the next variant is tried then.
struct KernelVariant {
  Contract contract;
  std::string_view name;
  Cpu needs;
  bool (*accepts)(const Problem&);
  std::unique_ptr<Kernel> (*make)(const Problem&);
};
std::span<const KernelVariant> kernel_variants(Contract contract);

struct PreparedKernel {
  std::unique_ptr<Kernel> kernel;
  std::string_view variant;
};

// Checks the operands against the contract and prepares the first variant that accepts the problem. May allocate and
// take milliseconds. `variant` names one to be used ("reference" is the last one of each contract, for differential
// tests); Unsupported where it does not accept.
//
// Throws ShapeMismatch or TypeError, in the user's words, for operands; InvalidArgument for an attribute's value;
// CorruptFile, ArityMismatch or Unsupported for a call that no compiler writes. Whatever the call says, what is
// prepared stays within its operands.
PreparedKernel prepare_kernel(const Problem& problem, std::string_view variant = {});

// May this operand (inputs first, then outputs) of the contract lie channels-last when it has rank 4? Kernels of such
// contracts accept any mixture of layouts.
bool takes_channels_last(Contract contract, size_t operand, const KernelCall& call);

// May calls of the contract carry post-ops?
bool takes_post_ops(Contract contract);

}  // namespace ingot
