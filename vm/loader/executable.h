#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/base/cpu.h"
#include "runtime/kernels/kernel.h"
#include "vm/executable/layout.h"
#include "vm/executable/program.h"

namespace ingot::vm {

struct LoadOptions {
  bool copy = false;       // read the file instead of mapping it
  std::optional<Cpu> cpu;  // at most this; none: what the machine has
  bool jit = true;
  int threads = 1;
  std::string kernels;    // "reference", or empty for the best
  bool perf_map = false;  // name generated functions in /tmp/perf-PID.map
};

struct FunctionPlan;
struct LinkedProgram;
struct ProgramFacts;

// A verified program, ready to run: the only way to one leads through the verifier. Immutable for its users; prepared
// kernels, plans and packed weights are kept inside behind a lock. Shared between threads.
class Executable {
  struct Impl;

 public:
  explicit Executable(std::unique_ptr<Impl> impl);  // for load and from_program, which alone can make an Impl
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Throws CorruptFile naming the place, Io, Unsupported (a required feature, by name), ResourceExhausted.
  static std::shared_ptr<const Executable> load(const std::filesystem::path& path, const LoadOptions& options = {});
  static std::shared_ptr<const Executable> load(std::span<const std::byte> bytes,
                                                const LoadOptions& options = {});  // copies
  // For the compiler and tests: verified like any other.
  static std::shared_ptr<const Executable> from_program(Program program, const LoadOptions& options = {});

  const Program& program() const;
  const LoadOptions& options() const;
  // nullopt where no exported function has that name.
  std::optional<uint32_t> find(std::string_view function) const;

  // Layouts, prepared kernels and memory plan of a function for the values of its entry dimensions; made at load for
  // functions without any, otherwise at the first call with a shape and kept in a bounded cache. Where all entry
  // dimensions have bounds, the places are those of the plan for the bounds, made at load. Throws as plan_function.
  // Thread safe.
  std::shared_ptr<const FunctionPlan> plan(uint32_t function, std::span<const int64_t> entry_dims,
                                           size_t memory_limit = SIZE_MAX) const;

  // A kernel for a call whose operands' dimensions are only known at run time, row-major; kept in a bounded cache.
  // Throws as prepare_kernel. Thread safe.
  std::shared_ptr<const PreparedKernel> prepare(uint32_t kernel, std::span<const OperandSpec> operands) const;

  size_t packed_weight_bytes() const;
  // Of the file; empty for a program that was not one.
  std::span<const SectionInfo> sections() const;

  // The form that the interpreter runs.
  const LinkedProgram& linked() const;
  const ProgramFacts& facts() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot::vm
