#include "runtime/kernels/reference.h"

#include "runtime/kernels/check.h"
#include "runtime/kernels/scale_shift/scale_shift.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

template <typename T>
class ScaleShiftReference final : public Kernel {
 public:
  explicit ScaleShiftReference(const Problem& problem)
      : dims_(problem.outputs[0].dims),
        data_strides_(strides_of(problem.inputs[0])),
        output_strides_(strides_of(problem.outputs[0])),
        post_ops_(problem, 3) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    const auto* data = reinterpret_cast<const T*>(args.inputs[0]);
    const auto* scale = reinterpret_cast<const T*>(args.inputs[1]);
    const auto* shift = reinterpret_cast<const T*>(args.inputs[2]);
    auto* output = reinterpret_cast<T*>(args.outputs[0]);
    return reference::for_each_index(dims_, args, 1, [&](const reference::Index& at) {
      const auto value = reference::to_sum(data[at.offset(data_strides_)]) * reference::to_sum(scale[at[1]]) +
                         reference::to_sum(shift[at[1]]);
      output[at.offset(output_strides_)] = reference::from_sum<T>(post_ops_.apply<T>(value, at, args));
    });
  }
  bool runs_in_place(size_t input) const override { return input == 0 && data_strides_ == output_strides_; }
  std::string_view implementation() const override { return "reference"; }
  uint64_t work() const override { return count_elements(dims_); }

 private:
  std::vector<int64_t> dims_, data_strides_, output_strides_;
  reference::PostOps post_ops_;
};

}  // namespace

std::unique_ptr<Kernel> make_scale_shift_reference(const Problem& problem) {
  return reference::with_type(problem.outputs[0].dtype, [&]<typename T>(std::type_identity<T>) {
    return std::unique_ptr<Kernel>(std::make_unique<ScaleShiftReference<T>>(problem));
  });
}

}  // namespace ingot
