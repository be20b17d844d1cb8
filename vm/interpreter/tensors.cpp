#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "runtime/tensor/tensor.h"
#include "vm/interpreter/instructions.h"
#include "vm/interpreter/small_array.h"

namespace ingot::vm {
namespace {

// Plans that a session keeps for one function; more live in the executable.
constexpr size_t kPlansKept = 8;
static_assert(sizeof(Activation) <= FunctionPlan::kHeadBytes);

PlanUse& find_plan(Machine& m, const LinkedFunction& function, std::span<const int64_t> dims) {
  PlanUses& uses = m.plans[function.index];
  const auto found = std::find_if(uses.begin(), uses.end(), [&](const auto& use) {
    return std::equal(dims.begin(), dims.end(), use->plan->entry_dims.begin());
  });
  if (found != uses.end()) {
    std::rotate(uses.begin(), found, found + 1);
    return *uses.front();
  }
  auto use = std::make_unique<PlanUse>();
  use->plan = m.executable->plan(function.index, dims, m.account.limit());
  uses.insert(uses.begin(), std::move(use));
  if (uses.size() > kPlansKept && uses.back()->active == 0) uses.pop_back();
  return *uses.front();
}

// Refuses what would fail later in any case, with both numbers.
void check_peak(const Machine& m, const LinkedFunction& function, const FunctionPlan& plan) {
  const size_t in_use = m.account.statistics().in_use;
  const size_t limit = m.account.limit();
  if (plan.peak.bytes <= limit && in_use <= limit - plan.peak.bytes) return;
  fail(ErrorCode::ResourceExhausted, "@{} takes {}{} bytes of memory{}, the memory limit is {}", function.source->name,
       plan.peak.whole ? "" : "at least ", plan.peak.bytes,
       in_use == 0 ? "" : fmt::format(" beside the {} in use", in_use), limit);
}

std::byte* segment_of(const Frame& frame) { return reinterpret_cast<std::byte*>(frame.activation); }

Slot place_tensor(const Frame& frame, uint32_t site) {
  const FunctionPlan& plan = *frame.activation->plan;
  const TensorPlacement& place = plan.sites[site];
  if (place.refused) [[unlikely]]
    throw plan.refusals.at(site);
  const StorageExtent& extent = plan.storages[place.storage];
  std::byte* const segment = segment_of(frame);
  auto* tensor = ::new (segment + place.header) TensorObject(Counting::Uncounted, extent.dtype, extent.rank);
  tensor->layout = place.layout;
  tensor->in_arena = true;
  tensor->data = segment + place.data;
  tensor->bytes = extent.bytes;
  std::copy_n(extent.dims, extent.rank, tensor->dims().data());
  return Slot::of(tensor, Slot::kBorrowed);
}

}  // namespace

void take_plan(Machine& m, Frame& frame, const Slot* registers, std::span<const Register> list) {
  SmallArray<int64_t, 16> dims(list.size());
  for (size_t i = 0; i < list.size(); ++i) dims[i] = registers[list[i]].as<int64_t>();
  PlanUse& use = find_plan(m, *frame.function, dims);
  check_peak(m, *frame.function, *use.plan);
  const Arena::Mark mark = m.arena.mark();
  std::byte* const segment = m.arena.push(use.plan->segment_bytes);
  frame.activation = ::new (segment) Activation{mark, use.plan.get(), &use};
  ++use.active;
}

Slot alloc_tensor(const Frame& frame, uint32_t site) { return place_tensor(frame, site); }

Slot alloc_view(const Frame& frame, const Slot& of, uint32_t site) {
  const Slot view = place_tensor(frame, site);
  static_cast<TensorObject*>(view.object)->data = static_cast<const TensorObject*>(of.object)->data;
  return view;
}

Slot new_tensor(Machine& m, const Frame& frame, uint32_t site) {
  const FunctionPlan& plan = *frame.activation->plan;
  if (plan.sites[site].refused) [[unlikely]]
    throw plan.refusals.at(site);
  const StorageExtent& extent = plan.storages[plan.sites[site].storage];
  return Slot::of(make_tensor(&m.pool, extent.dtype, {extent.dims, extent.rank}).detach());
}

}  // namespace ingot::vm
