#include "runtime/kernels/check.h"
#include "runtime/kernels/reorder/reorder.h"
#include "runtime/kernels/strided_copy.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

class ReorderReference final : public Kernel {
 public:
  explicit ReorderReference(const Problem& problem)
      : copy_(dtype_bytes(problem.outputs[0].dtype), problem.outputs[0].dims, strides_of(problem.inputs[0]),
              strides_of(problem.outputs[0])),
        work_(count_elements(problem.outputs[0].dims)) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    copy_.run(args.inputs[0], args.outputs[0]);
    return {};
  }
  std::string_view implementation() const override { return "copy"; }
  uint64_t work() const override { return work_; }

 private:
  StridedCopy copy_;
  uint64_t work_;
};

}  // namespace

std::unique_ptr<Kernel> make_reorder_reference(const Problem& problem) {
  return std::make_unique<ReorderReference>(problem);
}

}  // namespace ingot
