#include "runtime/kernels/onednn/program.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/kernels/check.h"
#include "runtime/parallel/thread_team.h"

namespace ingot::onednn {
namespace {

constexpr tir::RunStatus kFailed{.code = ErrorCode::Internal, .failed = true, .message = "a oneDNN primitive failed"};
constexpr tir::RunStatus kNoMemory{
    .code = ErrorCode::OutOfMemory, .failed = true, .message = "no memory to run a oneDNN primitive"};

}  // namespace

struct Program::Context {
  std::vector<dnnl::memory> memories;                   // one per slot
  std::vector<std::byte*> addresses;                    // what they hold
  std::vector<std::vector<dnnl_exec_arg_t>> arguments;  // one list per step
};

Program::Program(const Problem& problem)
    : threads_(problem.threads ? problem.threads->size() : 1), packs_(problem.packs) {}

Program::~Program() = default;

Program::Slot Program::input(size_t index, const View& view) {
  slots_.push_back({Place::Input, index, view});
  return slots_.size() - 1;
}

Program::Slot Program::output(const View& view) {
  slots_.push_back({Place::Output, 0, view});
  return slots_.size() - 1;
}

Program::Slot Program::scratch(const Desc& desc) {
  slots_.push_back({Place::Scratch, 0, {desc, reserve_scratch(desc.get_size())}});
  return slots_.size() - 1;
}

Program::Slot Program::constant(PackCache::Packed packed, const Desc& desc) {
  constants_.push_back(std::move(packed));
  slots_.push_back({Place::Constant, constants_.size() - 1, {desc}});
  return slots_.size() - 1;
}

size_t Program::reserve_scratch(size_t bytes) {
  const size_t offset = scratch_end_;
  const auto end = checked_add(offset, bytes);
  const auto aligned = end ? checked_align_up(*end, kTensorAlignment) : std::nullopt;
  if (!aligned) fail(ErrorCode::ResourceExhausted, "a kernel's scratch of {} bytes overflows", bytes);
  scratch_end_ = *aligned;
  scratch_bytes_ = std::max(scratch_bytes_, scratch_end_);
  return offset;
}

void Program::step(const Primitive& primitive, std::vector<Argument> arguments) {
  if (primitive.scratchpad.get_size() > 0) arguments.push_back({DNNL_ARG_SCRATCHPAD, scratch(primitive.scratchpad)});
  steps_.push_back({primitive.primitive, std::move(arguments)});
}

void Program::reorder(Slot from, Slot to) {
  const auto primitive = make_reorder(device_, desc(from), desc(to));
  if (!primitive) fail(ErrorCode::Unsupported, "oneDNN has no reorder for an operand");
  step(*primitive, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void Program::copy(Slot from, Slot to) { steps_.push_back({dnnl::primitive(), {{0, from}, {0, to}}}); }

Program::Slot Program::in_form(Slot slot, const Desc& wanted, const std::byte* constant_elements) {
  if (desc(slot) == wanted) return slot;
  if (!constant_elements) {
    const Slot result = scratch(wanted);
    reorder(slot, result);
    return result;
  }
  const auto pack = [&] {
    const auto primitive = make_reorder(device_, desc(slot), wanted);
    if (!primitive) fail(ErrorCode::Unsupported, "oneDNN has no reorder for constant weights");
    const auto data = allocate_packed(wanted.get_size());
    const auto scratchpad = allocate_packed(primitive->scratchpad.get_size());
    const dnnl::memory from(desc(slot), device_.engine, const_cast<std::byte*>(constant_elements));
    const dnnl::memory to(wanted, device_.engine, data.get());
    const dnnl::memory extra(primitive->scratchpad, device_.engine, scratchpad.get());
    primitive->primitive.execute(device_.stream,
                                 {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, extra}});
    return PackCache::Packed{.data = data, .bytes = wanted.get_size()};
  };
  return constant(packs_ ? packs_->get(constant_elements, signature(desc(slot)) + signature(wanted), pack) : pack(),
                  wanted);
}

void Program::apply(Slot slot, std::span<const FusedOp> ops, std::span<const Slot> operands) {
  size_t operand = 0;
  for (const FusedOp& op : ops) {
    const bool elementwise = op.kind == FusedOp::Kind::Eltwise;
    Slot other = elementwise ? slot : operands[operand++];
    if (desc(other).dims() == desc(slot).dims()) other = in_form(other, desc(slot));
    const auto primitive =
        elementwise ? make_eltwise(device_, op, desc(slot))
                    : make_binary(device_, dnnl::algorithm::binary_add, desc(slot), desc(other), desc(slot), {});
    if (!primitive) fail(ErrorCode::Unsupported, "oneDNN has no primitive for a post-op");
    if (elementwise)
      step(*primitive, {{DNNL_ARG_SRC, slot}, {DNNL_ARG_DST, slot}});
    else
      step(*primitive, {{DNNL_ARG_SRC_0, slot}, {DNNL_ARG_SRC_1, other}, {DNNL_ARG_DST, slot}});
  }
}

void Program::finish() {
  idle_.reserve(8);
  idle_.push_back(make_context());
}

std::unique_ptr<Program::Context> Program::make_context() const {
  auto context = std::make_unique<Context>();
  for (const SlotInfo& slot : slots_) {
    void* handle = DNNL_MEMORY_NONE;
    if (slot.place == Place::Constant) handle = const_cast<std::byte*>(constants_[slot.index].data.get());
    context->memories.emplace_back(slot.view.desc, device_.engine, handle);
    context->addresses.push_back(static_cast<std::byte*>(handle));
  }
  for (const Step& step : steps_) {
    auto& arguments = context->arguments.emplace_back();
    for (const Argument& argument : step.arguments)
      arguments.push_back({argument.role, context->memories[argument.slot].get()});
  }
  return context;
}

std::byte* Program::address(const SlotInfo& slot, const KernelArgs& args) const {
  switch (slot.place) {
    case Place::Input:
      return const_cast<std::byte*>(args.inputs[slot.index]) + slot.view.offset;
    case Place::Output:
      return args.outputs[0] + slot.view.offset;
    case Place::Scratch:
      return args.scratch + slot.view.offset;
    case Place::Constant:
      break;
  }
  return const_cast<std::byte*>(constants_[slot.index].data.get());
}

tir::RunStatus Program::execute(Context& context, const KernelArgs& args) const {
  const ThreadLimit limit(threads_);
  for (size_t i = 0; i < slots_.size(); ++i) {
    std::byte* const at = address(slots_[i], args);
    if (at == context.addresses[i]) continue;
    if (dnnl_memory_set_data_handle(context.memories[i].get(), at) != dnnl_success) return kFailed;
    context.addresses[i] = at;
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (!step.primitive) {
      const auto [from, to] = std::pair(step.arguments[0].slot, step.arguments[1].slot);
      if (context.addresses[from] != context.addresses[to])
        std::memcpy(context.addresses[to], context.addresses[from], slots_[to].view.desc.get_size());
      continue;
    }
    const auto& arguments = context.arguments[i];
    const dnnl_status_t status = dnnl_primitive_execute(step.primitive.get(), device_.stream.get(),
                                                        static_cast<int>(arguments.size()), arguments.data());
    if (status != dnnl_success) return status == dnnl_out_of_memory ? kNoMemory : kFailed;
  }
  return {};
}

tir::RunStatus Program::run(const KernelArgs& args) const noexcept {
  try {
    std::unique_ptr<Context> context;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        context = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!context) context = make_context();
    const tir::RunStatus status = execute(*context, args);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(context));
    return status;
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  } catch (const std::exception&) {
    return kFailed;
  }
}

bool is_plain_float_problem(const Problem& problem) {
  const auto fits = [](const OperandSpec& operand) {
    const uint64_t elements = count_elements(operand.dims);
    return operand.dtype == DType::Float32 && elements > 0 && elements < (uint64_t{1} << 31);
  };
  return std::all_of(problem.inputs.begin(), problem.inputs.end(), fits) &&
         std::all_of(problem.outputs.begin(), problem.outputs.end(), fits);
}

}  // namespace ingot::onednn
