#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/onednn/adapter.h"

namespace ingot::onednn {

// A kernel made of oneDNN primitives that run one after another: built once, then immutable.
//
// Operands of primitives are slots: memory of the call, scratch or packed weights, each with one descriptor.
class Program final : public Kernel {
 public:
  using Slot = size_t;
  struct Argument {
    int role;  // DNNL_ARG_...
    Slot slot;
  };

  explicit Program(const Problem& problem);
  ~Program() override;

  const Device& device() const { return device_; }

  Slot input(size_t index, const View& view);
  Slot output(const View& view);
  Slot scratch(const Desc& desc);
  Slot constant(PackCache::Packed packed, const Desc& desc);
  const Desc& desc(Slot slot) const { return slots_[slot].view.desc; }

  // The arguments; the scratchpad is added here.
  void step(const Primitive& primitive, std::vector<Argument> arguments);
  // The slot itself if it has this descriptor, else a new one that a reorder fills; a packed constant if `constant` is
  // set. Throws Unsupported where there is no reorder.
  Slot in_form(Slot slot, const Desc& desc, const std::byte* constant = nullptr);
  void reorder(Slot from, Slot to);
  // memcpy, unless they are at the same address.
  void copy(Slot from, Slot to);
  // The operations as primitives of their own, in place of `slot`. Throws Unsupported as above.
  void apply(Slot slot, std::span<const FusedOp> ops, std::span<const Slot> operands);

  // What follows reads nothing of the scratch of what came before: both may lie in the same memory.
  void reuse_scratch() { scratch_end_ = 0; }

  // -1: none.
  void set_in_place_input(int input) { in_place_input_ = input; }
  int in_place_input() const { return in_place_input_; }
  void set_implementation(std::string name) { implementation_ = std::move(name); }
  void set_work(uint64_t work) { work_ = work; }
  // No more changes.
  void finish();

  tir::RunStatus run(const KernelArgs& args) const noexcept override;
  size_t scratch_bytes() const override { return scratch_bytes_; }
  bool runs_in_place(size_t input) const override { return static_cast<int>(input) == in_place_input_; }
  std::string_view implementation() const override { return implementation_; }
  uint64_t work() const override { return work_; }

 private:
  enum class Place : uint8_t { Input, Output, Scratch, Constant };
  struct SlotInfo {
    Place place;
    size_t index;  // of the input or the constant
    View view;     // in scratch the offset is that from its start
  };
  // A primitive, or a copy where it is empty.
  struct Step {
    dnnl::primitive primitive;
    std::vector<Argument> arguments;
  };
  // What one run at a time needs: memory objects that hold addresses.
  struct Context;

  size_t reserve_scratch(size_t bytes);
  std::byte* address(const SlotInfo& slot, const KernelArgs& args) const;
  std::unique_ptr<Context> make_context() const;
  tir::RunStatus execute(Context& context, const KernelArgs& args) const;

  Device device_;
  int threads_;
  PackCache* packs_;
  std::vector<SlotInfo> slots_;
  std::vector<PackCache::Packed> constants_;
  std::vector<Step> steps_;
  size_t scratch_end_ = 0;
  size_t scratch_bytes_ = 0;  // the greatest end
  int in_place_input_ = -1;
  std::string implementation_;
  uint64_t work_ = 1;

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Context>> idle_;
};

// Can oneDNN's primitives be asked at all? Operands are float32, none is empty, none has 2^31 elements or more.
bool is_plain_float_problem(const Problem& problem);

}  // namespace ingot::onednn
