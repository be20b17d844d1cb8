#include "vm/loader/function_plan.h"

#include <algorithm>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"

namespace ingot::vm {
namespace {

constexpr uint32_t kNoInterval = UINT32_MAX;

size_t checked_sum(size_t a, size_t b) {
  const auto sum = checked_add(a, b);
  if (!sum) fail(ErrorCode::ResourceExhausted, "the arena segment needs more than {} bytes", SIZE_MAX);
  return *sum;
}

class Planner {
 public:
  Planner(const PlanContext& context, const LinkedFunction& function, std::span<const int64_t> entry_dims,
          size_t memory_limit, const FunctionPlan* roomy, const FunctionPlan* other)
      : context_(context),
        function_(function),
        facts_(*function.facts),
        memory_limit_(memory_limit),
        roomy_(roomy),
        other_(other) {
    plan_->entry_dims.assign(entry_dims.begin(), entry_dims.end());
  }

  std::shared_ptr<const FunctionPlan> run() {
    plan_->sites.resize(facts_.sites.size());
    measure_storages();
    check_limit();
    check_views();
    prepare_kernels();
    find_in_place();
    if (roomy_ != nullptr && fits_into(*roomy_)) {
      take_places(*roomy_);
    } else {
      lay_out();
    }
    plan_->peak = known_peak(function_, *plan_);
    return std::move(plan_);
  }

 private:
  void measure_storages() {
    size_t dims = 0;
    for (const LinkedStorage& storage : function_.storages) dims += storage.dims.size();
    plan_->dims.reserve(dims);
    plan_->storages.resize(function_.storages.size());
    for (size_t i = 0; i < function_.storages.size(); ++i) {
      const LinkedStorage& storage = function_.storages[i];
      StorageExtent& extent = plan_->storages[i];
      extent.dtype = storage.dtype;
      extent.rank = static_cast<uint32_t>(storage.dims.size());
      extent.dims = plan_->dims.data() + plan_->dims.size();
      const size_t begin = plan_->dims.size();
      try {
        for (const CompiledExpr& dim : storage.dims) plan_->dims.push_back(dim.evaluate(plan_->entry_dims));
        if (storage.dtype != DType::None) extent.bytes = byte_size(storage.dtype, {extent.dims, extent.rank});
      } catch (const Error& error) {
        if (error_blame(error.code()) != Blame::User) throw;
        plan_->dims.resize(begin + extent.rank);
        for (uint32_t site = 0; site < facts_.sites.size(); ++site)
          if (facts_.sites[site].storage == i) refuse(site, error);
      }
    }
  }

  void refuse(uint32_t site, const Error& error) {
    plan_->sites[site].refused = true;
    plan_->refusals.emplace(site, error);
  }

  // Before kernels are prepared, which may take memory in proportion.
  void check_limit() const {
    for (uint32_t i = 0; i < facts_.sites.size(); ++i) {
      const StorageExtent& extent = extent_of(i);
      if (facts_.sites[i].opcode == Opcode::AllocTensor && extent.bytes > memory_limit_)
        fail(ErrorCode::ResourceExhausted, "@{}: a tensor of shape {} takes {} bytes, the memory limit is {}",
             function_.source->name, shape_text({extent.dims, extent.rank}), extent.bytes, memory_limit_);
    }
  }

  const StorageExtent& extent_of(uint32_t site) const { return plan_->storages[facts_.sites[site].storage]; }

  void check_views() {
    for (uint32_t i = 0; i < facts_.sites.size(); ++i) {
      const uint32_t base = facts_.sites[i].base;
      if (base == kNoSite || plan_->sites[i].refused || plan_->sites[base].refused) continue;
      const StorageExtent& view = extent_of(i);
      const StorageExtent& of = extent_of(base);
      if (view.bytes != of.bytes)
        refuse(i, Error(ErrorCode::ShapeMismatch,
                        fmt::format("a view of shape {} shows a tensor of shape {}: {} bytes are not {}",
                                    shape_text({view.dims, view.rank}), shape_text({of.dims, of.rank}), view.bytes,
                                    of.bytes)));
    }
  }

  const Error* refused_operand(const KernelSite& site) const {
    for (const Origin& operand : site.operands)
      if (operand.from == Origin::From::Site && plan_->sites[operand.index].refused)
        return &plan_->refusals.at(operand.index);
    return nullptr;
  }

  static uint32_t varying(const std::vector<CompiledExpr>& dims) {
    uint32_t bits = 0;
    for (size_t d = 0; d < std::min<size_t>(dims.size(), 32); ++d)
      if (!dims[d].is_const()) bits |= uint32_t{1} << d;
    return bits;
  }

  OperandSpec spec_of(const LinkedOperand& operand, bool scalar) const {
    OperandSpec spec;
    spec.dtype = operand.dtype;
    if (scalar) return spec;
    if (operand.origin.from == Origin::From::Site) {
      const StorageExtent& extent = extent_of(operand.origin.index);
      spec.dims.assign(extent.dims, extent.dims + extent.rank);
      spec.varying = varying(function_.storages[facts_.sites[operand.origin.index].storage].dims);
      spec.layout = function_.layouts[operand.origin.index];
      return spec;
    }
    for (const CompiledExpr& dim : operand.dims) spec.dims.push_back(dim.evaluate(plan_->entry_dims));
    spec.varying = varying(operand.dims);
    if (operand.origin.from == Origin::From::Constant)
      spec.constant = context_.program->constants[operand.origin.index].bytes.data();
    return spec;
  }

  void prepare_kernels() {
    plan_->kernels.resize(facts_.kernels.size());
    for (size_t k = 0; k < facts_.kernels.size(); ++k) {
      const LinkedKernel& linked = function_.kernels[k];
      if (!linked.known) continue;
      const KernelSite& site = facts_.kernels[k];
      const KernelCall& call = context_.program->kernels[site.kernel];
      if (const Error* refused = refused_operand(site)) {
        plan_->kernels[k].error = *refused;
        continue;
      }
      try {
        std::vector<OperandSpec> specs;
        for (size_t i = 0; i < linked.operands.size(); ++i)
          specs.push_back(spec_of(linked.operands[i], site.classes[i].is(Kind::Scalar)));
        plan_->kernels[k].inputs = call.inputs;
        const bool fixed = std::ranges::all_of(specs, [](const OperandSpec& spec) { return spec.varying == 0; });
        if (fixed && other_ != nullptr && other_->kernels[k].kernel != nullptr) {
          plan_->kernels[k].kernel = other_->kernels[k].kernel;
          plan_->kernels[k].variant = other_->kernels[k].variant;
          continue;
        }
        const std::span<const OperandSpec> all(specs);
        PreparedKernel prepared = prepare_kernel({.call = &call,
                                                  .inputs = all.first(call.inputs),
                                                  .outputs = all.subspan(call.inputs),
                                                  .cpu = context_.cpu,
                                                  .threads = context_.threads,
                                                  .packs = context_.packs,
                                                  .families = context_.families,
                                                  .perf_map = context_.perf_map},
                                                 variant_of(call, context_.jit, context_.variant));
        plan_->kernels[k].kernel = std::move(prepared.kernel);
        plan_->kernels[k].variant = prepared.variant;
      } catch (const Error& error) {
        if (error_blame(error.code()) != Blame::User) throw;
        plan_->kernels[k].error = error;
      }
    }
  }

  uint32_t root(uint32_t site) const {
    while (facts_.sites[site].base != kNoSite) site = facts_.sites[site].base;
    return site;
  }

  bool is_laid_out(uint32_t site) const {
    return facts_.sites[site].opcode == Opcode::AllocTensor && facts_.sites[site].first <= facts_.sites[site].last;
  }

  uint32_t first_output(size_t k) const {
    const KernelSite& site = facts_.kernels[k];
    return root(site.operands[context_.program->kernels[site.kernel].inputs].index);
  }

  void find_in_place() {
    for (size_t k = 0; k < facts_.kernels.size(); ++k) {
      PlannedKernel& planned = plan_->kernels[k];
      const KernelCall& call = context_.program->kernels[facts_.kernels[k].kernel];
      if (planned.kernel == nullptr || call.outputs == 0) continue;
      for (size_t input = 0; input < call.inputs && planned.in_place_of == kNoSite; ++input)
        if (planned.kernel->runs_in_place(input) && dies_for_output(facts_.kernels[k], call, input))
          planned.in_place_of = root(facts_.kernels[k].operands[input].index);
    }
  }

  // Is the input read for the last time, and nowhere else by this call, where output 0 of the same size begins?
  bool dies_for_output(const KernelSite& site, const KernelCall& call, size_t input) const {
    const Origin from = site.operands[input];
    const Origin to = site.operands[call.inputs];
    if (from.from != Origin::From::Site || to.from != Origin::From::Site) return false;
    const uint32_t source = root(from.index);
    const uint32_t target = root(to.index);
    if (source == target || !is_laid_out(source) || !is_laid_out(target)) return false;
    const bool follows = facts_.sites[source].last == site.unit && facts_.sites[target].first == site.unit;
    const bool fits = extent_of(source).bytes == extent_of(target).bytes &&
                      function_.layouts[from.index] == function_.layouts[to.index];
    const auto reads_source = [&](const Origin& operand) {
      return operand.from == Origin::From::Site && root(operand.index) == source;
    };
    return follows && fits && std::ranges::count_if(std::span(site.operands).first(call.inputs), reads_source) == 1;
  }

  // Is every tensor and scratch area at most as large as there, and every kernel at work in place where it was there?
  bool fits_into(const FunctionPlan& roomy) const {
    for (uint32_t i = 0; i < facts_.sites.size(); ++i)
      if (is_laid_out(i) && extent_of(i).bytes > roomy.storages[facts_.sites[i].storage].bytes) return false;
    for (size_t k = 0; k < facts_.kernels.size(); ++k) {
      const PlannedKernel& ours = plan_->kernels[k];
      const PlannedKernel& theirs = roomy.kernels[k];
      const size_t scratch = ours.kernel == nullptr ? 0 : ours.kernel->scratch_bytes();
      if (scratch > (theirs.kernel == nullptr ? 0 : theirs.kernel->scratch_bytes())) return false;
      if (ours.kernel != nullptr && theirs.in_place_of != kNoSite && theirs.in_place_of != ours.in_place_of)
        return false;
    }
    return true;
  }

  void take_places(const FunctionPlan& roomy) {
    for (size_t i = 0; i < plan_->sites.size(); ++i) {
      const bool refused = plan_->sites[i].refused;
      plan_->sites[i] = roomy.sites[i];
      plan_->sites[i].refused = refused;
    }
    for (size_t k = 0; k < plan_->kernels.size(); ++k) plan_->kernels[k].scratch = roomy.kernels[k].scratch;
    plan_->segment_bytes = roomy.segment_bytes;
    plan_->memory = roomy.memory;
  }

  void lay_out() {
    std::vector<Interval> intervals;
    std::vector<uint32_t> interval_of(facts_.sites.size(), kNoInterval);
    for (uint32_t i = 0; i < facts_.sites.size(); ++i) {
      if (!is_laid_out(i)) continue;
      interval_of[i] = static_cast<uint32_t>(intervals.size());
      intervals.push_back({extent_of(i).bytes, facts_.sites[i].first, facts_.sites[i].last, -1, facts_.sites[i].gaps});
    }
    std::vector<uint32_t> scratch_of(facts_.kernels.size(), kNoInterval);
    for (size_t k = 0; k < facts_.kernels.size(); ++k) {
      const PlannedKernel& planned = plan_->kernels[k];
      if (planned.kernel == nullptr) continue;
      if (planned.in_place_of != kNoSite)
        intervals[interval_of[first_output(k)]].in_place_of = static_cast<int32_t>(interval_of[planned.in_place_of]);
      if (planned.kernel->scratch_bytes() == 0) continue;
      scratch_of[k] = static_cast<uint32_t>(intervals.size());
      intervals.push_back({planned.kernel->scratch_bytes(), facts_.kernels[k].unit, facts_.kernels[k].unit});
    }
    plan_->memory = plan_memory(intervals, kTensorAlignment);

    size_t headers = FunctionPlan::kHeadBytes;
    for (uint32_t i = 0; i < facts_.sites.size(); ++i) {
      TensorPlacement& place = plan_->sites[i];
      place.storage = facts_.sites[i].storage;
      place.layout = function_.layouts[i];
      if (facts_.sites[i].opcode == Opcode::NewTensor) continue;
      place.header = headers;
      headers += sizeof(TensorObject) + extent_of(i).rank * sizeof(int64_t);
    }
    const size_t begin = (headers + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    for (uint32_t i = 0; i < facts_.sites.size(); ++i)
      plan_->sites[i].data = begin + (interval_of[i] == kNoInterval ? 0 : plan_->memory.offsets[interval_of[i]]);
    for (uint32_t i = 0; i < facts_.sites.size(); ++i)
      if (facts_.sites[i].base != kNoSite) plan_->sites[i].data = plan_->sites[root(i)].data;
    for (size_t k = 0; k < facts_.kernels.size(); ++k)
      plan_->kernels[k].scratch = begin + (scratch_of[k] == kNoInterval ? 0 : plan_->memory.offsets[scratch_of[k]]);
    plan_->segment_bytes = checked_sum(begin, plan_->memory.total);
    plan_->memory.offsets.clear();
  }

  const PlanContext& context_;
  const LinkedFunction& function_;
  const FunctionFacts& facts_;
  size_t memory_limit_;
  const FunctionPlan* roomy_;
  const FunctionPlan* other_;
  std::shared_ptr<FunctionPlan> plan_ = std::make_shared<FunctionPlan>();
};

}  // namespace

std::shared_ptr<const FunctionPlan> plan_function(const PlanContext& context, const LinkedFunction& function,
                                                  std::span<const int64_t> entry_dims, size_t memory_limit,
                                                  const FunctionPlan* roomy, const FunctionPlan* other) {
  return Planner(context, function, entry_dims, memory_limit, roomy, other).run();
}

}  // namespace ingot::vm
