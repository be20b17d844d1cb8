#include "runtime/kernels/check.h"
#include "runtime/kernels/concat/concat.h"
#include "runtime/kernels/strided_copy.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

class ConcatCopy final : public Kernel {
 public:
  explicit ConcatCopy(const Problem& problem) : work_(count_elements(problem.outputs[0].dims)) {
    const OperandSpec& output = problem.outputs[0];
    const auto axis = static_cast<size_t>(concat_axis(problem));
    const std::vector<int64_t> strides = strides_of(output);
    int64_t start = 0;
    for (const OperandSpec& input : problem.inputs) {
      const int64_t offset = start * strides[axis] * static_cast<int64_t>(dtype_bytes(output.dtype));
      parts_.push_back({static_cast<size_t>(offset),
                        StridedCopy(dtype_bytes(output.dtype), input.dims, strides_of(input), strides)});
      start += input.dims[axis];
    }
  }

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i].copy.run(args.inputs[i], args.outputs[0] + parts_[i].offset);
    return {};
  }
  std::string_view implementation() const override { return "copy"; }
  uint64_t work() const override { return work_; }

 private:
  struct Part {
    size_t offset;  // in the output, in bytes
    StridedCopy copy;
  };
  std::vector<Part> parts_;
  uint64_t work_;
};

}  // namespace

std::unique_ptr<Kernel> make_concat_copy(const Problem& problem) { return std::make_unique<ConcatCopy>(problem); }

}  // namespace ingot
