#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kernels/kernel.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/memory_pool.h"
#include "runtime/registry/packed_func.h"
#include "vm/interpreter/frame_stack.h"
#include "vm/interpreter/session.h"
#include "vm/loader/executable.h"
#include "vm/loader/function_plan.h"
#include "vm/verifier/register_set.h"

// The state of a session as its run loop sees it. One thread at a time.
namespace ingot::vm {

// A plan of the executable that this session holds on to, and how many activations use it.
struct PlanUse {
  std::shared_ptr<const FunctionPlan> plan;
  uint32_t active = 0;
};

// The plans that a session used last for one function, the latest first.
using PlanUses = std::vector<std::unique_ptr<PlanUse>>;

// A PackedFunc of the import list, as this session resolved it.
struct ResolvedImport {
  Ref<PackedFuncObject> function;  // null: not allowed or missing
  bool writes = false;
  std::string refusal;  // why `function` is null
};

// Kernels that a session prepared for one call site whose shapes are only known at run time, the latest first.
struct DynamicKernel {
  bool for_all_prims = false;  // the key says nothing of their values
  std::vector<int64_t> key;
  std::shared_ptr<const PreparedKernel> kernel;
};
using DynamicKernels = std::vector<DynamicKernel>;

// What may stop a run from outside.
struct Controls {
  uint64_t budget = 0;  // instructions left, where `budgeted`
  uint64_t budget_given = 0;
  bool budgeted = false;
  bool timed = false;
  std::chrono::steady_clock::time_point deadline;
  std::chrono::nanoseconds deadline_given{0};
  const CancelToken* cancel = nullptr;
  Profile* profile = nullptr;
  bool watched = false;  // the run loop counts or notes each instruction
  uint32_t polls = 0;
};

struct Machine {
  Machine(std::shared_ptr<const Executable> executable_, SessionOptions options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::shared_ptr<const Executable> executable;
  const LinkedProgram* program;
  MemoryAccount account;
  MemoryPool pool{account};
  Arena arena{account};
  FrameStack stack;

  Frame* frame;             // the top one
  Slot* next_register;      // where a nested run may put its arguments
  Slot* register_stop;      // registers of a callee must end here or below; stack.registers_begin() while polling
  bool polling = false;     // cancel token or deadline: calls take the slow path
  bool controlled = false;  // polling, a budget, or a profile
  uint32_t depth = 0;       // nested run loops
  bool stopped = false;     // a kernel was stopped by poll()
  Controls controls;

  // What frames hold at an instruction, for unwinding.
  struct Release {
    const CodeUnit* pc = nullptr;
    bool in_call = false;
    RegisterSet registers;
  };
  std::array<Release, 4> releases;

  std::vector<ResolvedImport> imports;
  std::vector<PlanUses> plans;                               // by function
  std::vector<std::vector<DynamicKernels>> dynamic_kernels;  // by function, by site
  SessionOptions options;
  Session* session = nullptr;  // for closures that leave
};

// How deep PackedFuncs may call back into the session.
inline constexpr uint32_t kMaxRunDepth = 200;

}  // namespace ingot::vm
