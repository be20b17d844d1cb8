#include "vm/loader/executable.h"

#include <map>

#include "runtime/base/file.h"
#include "runtime/jit/perf_map.h"
#include "runtime/kernels/family_cache.h"
#include "runtime/parallel/thread_team.h"
#include "vm/executable/reader.h"
#include "vm/loader/bounded_cache.h"
#include "vm/loader/function_plan.h"
#include "vm/loader/linked.h"
#include "vm/verifier/verifier.h"

namespace ingot::vm {
namespace {

constexpr size_t kPlansPerFunction = 64;
constexpr size_t kDynamicKernels = 1024;

using Numbers = std::vector<int64_t>;

Cpu usable_cpu(const LoadOptions& options) {
  const Cpu machine = detect_cpu();
  return options.cpu ? std::min(*options.cpu, machine) : machine;
}

}  // namespace

namespace {

// Of a PrimFunc whose sizes are found as the program runs: every dimension that is not a number may be another one the
// next time.
std::vector<OperandSpec> with_varying_dims(const KernelCall& call, std::span<const OperandSpec> operands) {
  std::vector<OperandSpec> specs(operands.begin(), operands.end());
  if (!call.prim_func) return specs;
  const tir::PrimFunc& func = *call.prim_func;
  const size_t inputs = func.params - func.outputs;
  for (size_t i = 0; i < func.params; ++i) {
    const std::vector<PrimExpr>& dims = func.buffers[i].dims;
    OperandSpec& spec = specs[i < inputs ? i : call.inputs + i - inputs];
    for (size_t d = 0; d < std::min<size_t>(dims.size(), 32); ++d)
      if (!dims[d].as_const()) spec.varying |= uint32_t{1} << d;
  }
  return specs;
}

}  // namespace

struct Executable::Impl {
  Impl(Program program_, std::vector<SectionInfo> sections_, const LoadOptions& options_)
      : program(std::move(program_)),
        facts(verify(program)),
        linked(link(program, facts)),
        options(options_),
        cpu(usable_cpu(options_)),
        sections(std::move(sections_)) {
    if (options.perf_map) perf_map = std::make_unique<jit::PerfMap>(jit::PerfMap::path_of_process());
    if (options.threads > 1) threads = std::make_unique<ThreadTeam>(options.threads);
    for (uint32_t i = 0; i < program.functions.size(); ++i) {
      if (program.functions[i].exported) exported.emplace(program.functions[i].name, i);
      if (linked.functions[i].facts->plan_unit) plans[i] = std::make_unique<Plans>(kPlansPerFunction);
    }
  }

  PlanContext context() {
    return {&program,    &linked,         cpu,           threads.get(), &packs, options.jit ? &families : nullptr,
            options.jit, options.kernels, perf_map.get()};
  }

  std::shared_ptr<const FunctionPlan> plan(uint32_t function, std::span<const int64_t> dims, size_t memory_limit) {
    const auto found = plans.find(function);
    if (found == plans.end()) fail(ErrorCode::Internal, "function {} has no plan", function);
    const auto make = [&] {
      const PlanContext c = context();
      const auto roomy = bound_plans.find(function);
      const auto other = found->second->latest();
      return plan_function(c, linked.functions[function], dims, memory_limit,
                           roomy == bound_plans.end() ? nullptr : roomy->second.get(), other.get());
    };
    return found->second->get(Numbers(dims.begin(), dims.end()), make);
  }

  // Functions whose sizes, or the most that they may be, are known are ready when loading is done. What is wrong with
  // one of them is an error of its calls, not of the file.
  void plan_static_functions() {
    for (const auto& [function, cache] : plans) {
      const auto dims = greatest_dims(linked.functions[function]);
      if (!dims) continue;
      try {
        auto made = plan(function, *dims, SIZE_MAX);
        if (!dims->empty()) bound_plans.emplace(function, std::move(made));
      } catch (const Error& error) {
        if (error_blame(error.code()) != Blame::User) throw;
      }
    }
  }

  using Plans = BoundedCache<Numbers, FunctionPlan, NumbersHash>;

  Program program;
  ProgramFacts facts;
  LinkedProgram linked;
  LoadOptions options;
  Cpu cpu;
  std::vector<SectionInfo> sections;
  std::unique_ptr<ThreadTeam> threads;
  std::unique_ptr<jit::PerfMap> perf_map;
  mutable PackCache packs;
  FamilyCache families;
  std::map<std::string, uint32_t, std::less<>> exported;
  std::map<uint32_t, std::unique_ptr<Plans>> plans;
  std::map<uint32_t, std::shared_ptr<const FunctionPlan>> bound_plans;  // for the greatest entry dimensions
  BoundedCache<Numbers, PreparedKernel, NumbersHash> kernels{kDynamicKernels};
};

Executable::Executable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) { impl_->plan_static_functions(); }
Executable::~Executable() = default;

std::shared_ptr<const Executable> Executable::load(const std::filesystem::path& path, const LoadOptions& options) {
  try {
    const FileBytes file = options.copy ? read_file(path) : map_file(path);
    return std::make_shared<Executable>(
        std::make_unique<Impl>(read_program(file), read_layout(file.bytes).sections, options));
  } catch (Error& error) {
    if (error.code() != ErrorCode::Io) error.add_context(path.string());
    throw;
  }
}

std::shared_ptr<const Executable> Executable::load(std::span<const std::byte> bytes, const LoadOptions& options) {
  const FileBytes file = copy_bytes(bytes);
  return std::make_shared<Executable>(
      std::make_unique<Impl>(read_program(file), read_layout(file.bytes).sections, options));
}

std::shared_ptr<const Executable> Executable::from_program(Program program, const LoadOptions& options) {
  return std::make_shared<Executable>(std::make_unique<Impl>(std::move(program), std::vector<SectionInfo>(), options));
}

const Program& Executable::program() const { return impl_->program; }
const LoadOptions& Executable::options() const { return impl_->options; }
const LinkedProgram& Executable::linked() const { return impl_->linked; }
const ProgramFacts& Executable::facts() const { return impl_->facts; }
size_t Executable::packed_weight_bytes() const { return impl_->packs.bytes(); }
std::span<const SectionInfo> Executable::sections() const { return impl_->sections; }

std::optional<uint32_t> Executable::find(std::string_view function) const {
  const auto found = impl_->exported.find(function);
  if (found == impl_->exported.end()) return std::nullopt;
  return found->second;
}

std::shared_ptr<const FunctionPlan> Executable::plan(uint32_t function, std::span<const int64_t> entry_dims,
                                                     size_t memory_limit) const {
  return impl_->plan(function, entry_dims, memory_limit);
}

std::shared_ptr<const PreparedKernel> Executable::prepare(uint32_t kernel,
                                                          std::span<const OperandSpec> operands) const {
  Numbers key{kernel};
  for (const OperandSpec& operand : operands) {
    key.push_back(static_cast<int64_t>(operand.dtype));
    key.push_back(static_cast<int64_t>(operand.dims.size()));
    key.insert(key.end(), operand.dims.begin(), operand.dims.end());
    key.push_back(std::bit_cast<int64_t>(operand.constant));
    if (operand.value) key.push_back(*operand.value);
  }
  const auto make = [&] {
    const KernelCall& call = impl_->program.kernels[kernel];
    const std::vector<OperandSpec> specs = with_varying_dims(call, operands);
    const std::span<const OperandSpec> all(specs);
    return std::make_shared<const PreparedKernel>(
        prepare_kernel({.call = &call,
                        .inputs = all.first(call.inputs),
                        .outputs = all.subspan(call.inputs),
                        .cpu = impl_->cpu,
                        .threads = impl_->threads.get(),
                        .packs = &impl_->packs,
                        .families = impl_->options.jit ? &impl_->families : nullptr,
                        .perf_map = impl_->perf_map.get()},
                       variant_of(call, impl_->options.jit, impl_->options.kernels)));
  };
  return impl_->kernels.get(key, make);
}

}  // namespace ingot::vm
