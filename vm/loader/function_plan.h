#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/error.h"
#include "runtime/kernels/kernel.h"
#include "runtime/memory/planner.h"
#include "runtime/tensor/tensor.h"
#include "vm/loader/known_peak.h"
#include "vm/loader/linked.h"

namespace ingot::vm {

// A Storage of the function for the plan's entry dimensions.
struct StorageExtent {
  DType dtype = DType::None;
  uint32_t rank = 0;
  const int64_t* dims = nullptr;  // in FunctionPlan::dims
  size_t bytes = 0;
};

// What one alloc_tensor, alloc_view or new_tensor makes, and where; in bytes from the start of the activation's
// segment. Views have the place of their base, tensors of the pool have none.
struct TensorPlacement {
  uint32_t storage = 0;
  Layout layout = Layout::RowMajor;
  size_t header = 0;     // the TensorObject
  size_t data = 0;       // the elements
  bool refused = false;  // FunctionPlan::refusals says why
};

// One kernel site. `kernel` is null where the shapes of its operands are only known at run time, and where they do not
// fit: then `error` says why, and is raised when the call is reached.
struct PlannedKernel {
  std::shared_ptr<const Kernel> kernel;  // plans of a function share those that no entry dimension changes
  std::optional<Error> error;
  std::string_view variant;
  size_t inputs = 0;   // how many of its operands are
  size_t scratch = 0;  // in bytes from the start of the segment
  // The AllocSite on whose memory its first output may have been laid.
  uint32_t in_place_of = kNoSite;
};

// Layouts, prepared kernels and memory plan of one function for the values of its entry dimensions. Immutable.
struct FunctionPlan {
  std::vector<int64_t> entry_dims;
  std::vector<int64_t> dims;  // of all storages
  std::vector<StorageExtent> storages;
  std::vector<TensorPlacement> sites;  // by FunctionFacts::sites
  // Why sites cannot be made: negative dimensions, too many elements, views that do not fit. Raised where the site is
  // reached, which branches that do not fit these dimensions never are.
  std::map<uint32_t, Error> refusals;
  std::vector<PlannedKernel> kernels;  // by FunctionFacts::kernels
  // What one activation takes: a head for the interpreter, the TensorObjects, then elements and scratch.
  size_t segment_bytes = 0;
  MemoryPlan memory;  // of elements and scratch; its offsets are dropped
  KnownPeak peak;

  // Bytes at the start of a segment that belong to the interpreter.
  static constexpr size_t kHeadBytes = 64;
};

// What preparing kernels needs, of an executable.
struct PlanContext {
  const Program* program;
  const LinkedProgram* linked;
  Cpu cpu;
  ThreadTeam* threads;  // may be null
  PackCache* packs;
  FamilyCache* families;  // null: every kernel for its dimensions alone, as without permission to generate code
  bool jit;
  std::string_view variant;      // of kernels; empty: the best
  const jit::PerfMap* perf_map;  // may be null
};
// The variant to ask prepare_kernel for: without permission to generate code, PrimFuncs are interpreted.
inline std::string_view variant_of(const KernelCall& call, bool jit, std::string_view variant) {
  return !jit && variant.empty() && call.contract == Contract::prim_func ? "interpreter" : variant;
}

// Throws ResourceExhausted where sizes overflow or a tensor of the arena takes more than `memory_limit` bytes, and what
// preparing throws, but for errors of one kernel call. `roomy` may be null: a plan of the same function, whose places
// are taken over where everything fits there. `other` may be null: any plan of the same function, whose kernels are
// taken over where no dimension of their operands varies.
std::shared_ptr<const FunctionPlan> plan_function(const PlanContext& context, const LinkedFunction& function,
                                                  std::span<const int64_t> entry_dims, size_t memory_limit,
                                                  const FunctionPlan* roomy = nullptr,
                                                  const FunctionPlan* other = nullptr);

}  // namespace ingot::vm
