#include "runtime/kernels/reference.h"

#include <cstring>

#include "runtime/kernels/check.h"
#include "runtime/kernels/concat/concat.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

class ConcatReference final : public Kernel {
 public:
  explicit ConcatReference(const Problem& problem)
      : axis_(static_cast<size_t>(concat_axis(problem))),
        bytes_(dtype_bytes(problem.outputs[0].dtype)),
        output_strides_(strides_of(problem.outputs[0])),
        inputs_(problem.inputs.begin(), problem.inputs.end()) {
    for (const OperandSpec& input : inputs_) input_strides_.push_back(strides_of(input));
    work_ = count_elements(problem.outputs[0].dims);
  }

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    int64_t start = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto status = reference::for_each_index(inputs_[i].dims, args, 1, [&](const reference::Index& at) {
        const auto from = static_cast<size_t>(at.offset(input_strides_[i]));
        const auto to = static_cast<size_t>(at.offset(output_strides_) + start * output_strides_[axis_]);
        std::memcpy(args.outputs[0] + to * bytes_, args.inputs[i] + from * bytes_, bytes_);
      });
      if (status.failed) return status;
      start += inputs_[i].dims[axis_];
    }
    return {};
  }
  std::string_view implementation() const override { return "reference"; }
  uint64_t work() const override { return work_; }

 private:
  size_t axis_;
  size_t bytes_;
  std::vector<int64_t> output_strides_;
  std::vector<OperandSpec> inputs_;
  std::vector<std::vector<int64_t>> input_strides_;
  uint64_t work_;
};

}  // namespace

std::unique_ptr<Kernel> make_concat_reference(const Problem& problem) {
  return std::make_unique<ConcatReference>(problem);
}

}  // namespace ingot
