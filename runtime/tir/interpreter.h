#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/base/error.h"
#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// The dimension of a buffer that an index does not lie in.
struct IndexFault {
  BufferId buffer = 0;
  uint32_t dim = 0;
  int64_t index = 0;
  int64_t extent = 0;
};

// A status instead of an exception: parallel bodies and kernels never throw.
struct RunStatus {
  ErrorCode code = ErrorCode::Internal;
  bool failed = false;
  const char* message = nullptr;  // a static text
  // Of IndexOutOfRange, where it is known: the first place that fails.
  std::optional<IndexFault> place = {};
};
// What to say of a run that failed; `func` may be null, otherwise it is the PrimFunc that was run.
std::string fault_text(const RunStatus& status, const PrimFunc* func);

// Polled by long loops, at least every 10 ms of work; true asks to stop (the caller knows why).
struct PollPoint {
  bool (*poll)(void* context) = nullptr;
  void* context = nullptr;
};

// The meaning of PrimFuncs, made executable in the obvious way: the oracle for the JIT, and what runs where there is
// none.
//
// Prepared once for concrete dimensions: sizes are evaluated and accesses that are in bounds for them lose their
// checks. Immutable afterwards; `run` may be called by many threads at once, each with scratch of its own.
class Interpreter {
 public:
  // `dims`: the value of each dimension of each buffer parameter. Throws ShapeMismatch where they do not fit the
  // function's symbolic variables.
  Interpreter(PrimFuncRef func, std::span<const std::vector<int64_t>> dims, std::span<const int64_t> scalars);
  ~Interpreter();

  // Bytes for temporaries, aligned to 64.
  size_t scratch_bytes() const;
  // The product of loop extents: what a call is charged against the instruction budget.
  uint64_t work() const;
  // `buffers`: the address of each buffer parameter, row-major. `scalar_payloads`: the address of each scalar
  // parameter's element.
  RunStatus run(std::span<std::byte* const> buffers, std::span<const void* const> scalar_payloads, std::byte* scratch,
                PollPoint poll) const noexcept;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace ingot::tir
