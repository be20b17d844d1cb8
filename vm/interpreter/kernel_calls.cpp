#include <algorithm>

#include "runtime/checks/faults.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tir/func_shape.h"
#include "vm/interpreter/controls.h"
#include "vm/interpreter/instructions.h"
#include "vm/interpreter/small_array.h"

namespace ingot::vm {
namespace {

// Kernels that a session keeps for one call site; more live in the executable.
constexpr size_t kKernelsKept = 8;

std::byte* address_of(Slot& slot) {
  return slot.kind == Kind::Tensor ? static_cast<TensorObject*>(slot.object)->data
                                   : static_cast<std::byte*>(slot.payload());
}

const KernelCall& call_at(const Machine& m, const LinkedFunction& function, uint32_t site) {
  return m.executable->program().kernels[function.facts->kernels[site].kernel];
}

void raise_stop(Machine& m) {
  if (!m.stopped) return;
  m.stopped = false;
  poll_clock(m);
}

[[noreturn]] void fail_kernel(Machine& m, uint32_t site, const Kernel& kernel, const KernelArgs& args,
                              const tir::RunStatus& status) {
  const KernelCall& call = call_at(m, *m.frame->function, site);
  raise_stop(m);
  const tir::RunStatus explained = kernel.explain(args, status);
  raise_stop(m);
  ingot::fail_kernel(explained.code, contract_name(call.contract), tir::fault_text(explained, call.prim_func.get()));
}

tir::RunStatus run_timed(Machine& m, const Kernel& kernel, const KernelArgs& args) {
  const auto start = Profile::Clock::now();
  const tir::RunStatus status = kernel.run(args);
  const auto end = Profile::Clock::now();
  const LinkedFunction& function = *m.frame->function;
  m.controls.profile->add_kernel(function.index, static_cast<uint32_t>(m.frame->pc - function.code.data()), start, end);
  return status;
}

tir::RunStatus run_controlled(Machine& m, const Kernel& kernel, KernelArgs& args) {
  poll_clock(m);
  charge(m, kernel.work());
  if (m.polling) args.poll = {poll_in_kernel, &m};
  return m.controls.profile == nullptr ? kernel.run(args) : run_timed(m, kernel, args);
}

void run_kernel(Machine& m, uint32_t site, const Kernel& kernel, size_t inputs, std::byte* scratch, Slot* registers,
                std::span<const Register> operands) {
  SmallArray<std::byte*, 24> addresses(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) addresses[i] = address_of(registers[operands[i]]);
  KernelArgs args{{addresses.data(), inputs}, {addresses.data() + inputs, operands.size() - inputs}, scratch, {}};
  const tir::RunStatus status = m.controlled ? run_controlled(m, kernel, args) : kernel.run(args);
  if (status.failed) [[unlikely]]
    fail_kernel(m, site, kernel, args, status);
}

// The values of a prim at one place, at equal dimensions, that get kernels of their own: code that knows where to read
// is faster. A loop over places goes on with one for all.
constexpr ptrdiff_t kPrimsKept = 4;

bool is_dimension(const Slot& slot) { return slot.kind == Kind::Prim && slot.dtype == DType::Int64; }

// dtype, rank and dimensions of each operand, and the values of dimensions themselves where these matter, in the order
// of a key.
template <typename Visit>
bool visit_key(const Slot* registers, std::span<const Register> operands, bool for_all_prims, const Visit& visit) {
  for (const Register operand : operands) {
    const Slot& slot = registers[operand];
    const bool is_tensor = slot.kind == Kind::Tensor;
    const auto* tensor = is_tensor ? static_cast<const TensorObject*>(slot.object) : nullptr;
    if (!visit(static_cast<int64_t>(is_tensor ? tensor->dtype : slot.dtype))) return false;
    if (!visit(is_tensor ? int64_t{tensor->rank} : 0)) return false;
    if (!for_all_prims && is_dimension(slot) && !visit(slot.as<int64_t>())) return false;
    if (!is_tensor) continue;
    for (const int64_t dim : tensor->dims())
      if (!visit(dim)) return false;
  }
  return true;
}

std::vector<int64_t> key_of(const Slot* registers, std::span<const Register> operands, bool for_all_prims) {
  std::vector<int64_t> key;
  visit_key(registers, operands, for_all_prims, [&](int64_t number) {
    key.push_back(number);
    return true;
  });
  return key;
}

// Ranks stand before dimensions, so no key is the beginning of another.
bool has_key(const DynamicKernel& kernel, const Slot* registers, std::span<const Register> operands) {
  size_t at = 0;
  return visit_key(registers, operands, kernel.for_all_prims,
                   [&](int64_t number) { return at < kernel.key.size() && kernel.key[at++] == number; });
}

// Do the dimensions of this kernel's operands, without the values of prims, agree as well?
bool has_dims(const DynamicKernel& kernel, const Slot* registers, std::span<const Register> operands) {
  size_t at = 0;
  for (const Register operand : operands) {
    const Slot& slot = registers[operand];
    const size_t rank = slot.kind == Kind::Tensor ? static_cast<const TensorObject*>(slot.object)->rank : 0;
    if (at + 2 > kernel.key.size() || kernel.key[at + 1] != static_cast<int64_t>(rank)) return false;
    at += 2;
    if (is_dimension(slot)) ++at;
    for (size_t d = 0; d < rank; ++d, ++at)
      if (at >= kernel.key.size() || kernel.key[at] != static_cast<const TensorObject*>(slot.object)->dims()[d])
        return false;
  }
  return true;
}

bool serves_all_prims(const DynamicKernels& known, const KernelCall& call, const Slot* registers,
                      std::span<const Register> operands) {
  if (call.prim_func == nullptr || call.prim_func->scalars.empty() || known.size() < size_t{kPrimsKept}) return false;
  const auto alike = std::ranges::count_if(
      known, [&](const DynamicKernel& k) { return !k.for_all_prims && has_dims(k, registers, operands); });
  return alike >= kPrimsKept && !tir::needs_scalars(*call.prim_func);
}

// All dimensions may be others at the next call, except those of weights.
std::vector<OperandSpec> specs_of(const Program& program, const LinkedKernel& linked, const Slot* registers,
                                  std::span<const Register> operands, bool for_all_prims) {
  std::vector<OperandSpec> specs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Slot& slot = registers[operands[i]];
    const Origin origin = linked.operands[i].origin;
    OperandSpec spec;
    spec.dtype = slot.dtype;
    if (is_dimension(slot) && !for_all_prims) spec.value = slot.as<int64_t>();
    if (slot.kind == Kind::Tensor) {
      const auto& tensor = *static_cast<const TensorObject*>(slot.object);
      spec.dtype = tensor.dtype;
      spec.dims.assign(tensor.dims().begin(), tensor.dims().end());
      if (origin.from == Origin::From::Constant)
        spec.constant = program.constants[origin.index].bytes.data();
      else
        spec.varying = UINT32_MAX;
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

const Kernel& find_kernel(Machine& m, const LinkedFunction& function, uint32_t site, const Slot* registers,
                          std::span<const Register> operands) {
  auto& of_function = m.dynamic_kernels[function.index];
  if (of_function.empty()) of_function.resize(function.facts->kernels.size());
  DynamicKernels& known = of_function[site];
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const DynamicKernel& k) { return has_key(k, registers, operands); });
  if (found != known.end()) {
    std::rotate(known.begin(), found, found + 1);
  } else {
    const bool all = serves_all_prims(known, call_at(m, function, site), registers, operands);
    const auto specs = specs_of(m.executable->program(), function.kernels[site], registers, operands, all);
    auto kernel = m.executable->prepare(function.facts->kernels[site].kernel, specs);
    known.insert(known.begin(), DynamicKernel{all, key_of(registers, operands, all), std::move(kernel)});
    if (known.size() > kKernelsKept) known.pop_back();
  }
  return *known.front().kernel->kernel;
}

// Scratch of a kernel whose shapes were not known when the arena was planned.
class Scratch {
 public:
  Scratch(Machine& m, size_t bytes) : pool_(m.pool) {
    if (bytes != 0) block_ = pool_.allocate(bytes);
  }
  ~Scratch() {
    if (block_.memory != nullptr) pool_.deallocate(block_.memory, block_.size_class);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(block_.memory); }

 private:
  MemoryPool& pool_;
  ObjectPool::Block block_{nullptr, 0};
};

}  // namespace

void call_kernel(Machine& m, const Frame& frame, uint32_t site, Slot* registers, std::span<const Register> operands) {
  const LinkedFunction& function = *frame.function;
  if (frame.activation != nullptr) {
    const PlannedKernel& planned = frame.activation->plan->kernels[site];
    if (planned.kernel != nullptr) {
      std::byte* const scratch = reinterpret_cast<std::byte*>(frame.activation) + planned.scratch;
      return run_kernel(m, site, *planned.kernel, planned.inputs, scratch, registers, operands);
    }
    if (planned.error) throw *planned.error;
  }
  const Kernel& kernel = find_kernel(m, function, site, registers, operands);
  const Scratch scratch(m, kernel.scratch_bytes());
  run_kernel(m, site, kernel, call_at(m, function, site).inputs, scratch.data(), registers, operands);
}

}  // namespace ingot::vm
