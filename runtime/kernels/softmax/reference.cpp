#include "runtime/kernels/reference.h"

#include <cmath>

#include "runtime/kernels/check.h"
#include "runtime/kernels/softmax/softmax.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

template <typename T>
class SoftmaxReference final : public Kernel {
 public:
  explicit SoftmaxReference(const Problem& problem)
      : outer_(problem.outputs[0].dims),
        strides_(strides_of(problem.outputs[0])),
        work_(count_elements(problem.outputs[0].dims)) {
    const auto axis = static_cast<size_t>(softmax_axis(problem));
    count_ = outer_[axis];
    step_ = strides_[axis];
    outer_[axis] = 1;
  }

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    if (count_ == 0) return {};
    return reference::for_each_index(outer_, args, 3 * count_, [&](const reference::Index& at) {
      const int64_t start = at.offset(strides_);
      const auto* from = reinterpret_cast<const T*>(args.inputs[0]) + start;
      auto* to = reinterpret_cast<T*>(args.outputs[0]) + start;
      const auto element = [&](int64_t i) { return reference::to_sum(from[i * step_]); };
      double largest = element(0);
      for (int64_t i = 1; i < count_; ++i)
        if (std::isnan(element(i)) || element(i) > largest) largest = element(i);
      double sum = 0;
      for (int64_t i = 0; i < count_; ++i) sum += std::exp(element(i) - largest);
      for (int64_t i = 0; i < count_; ++i) to[i * step_] = reference::from_sum<T>(std::exp(element(i) - largest) / sum);
    });
  }
  bool runs_in_place(size_t input) const override { return input == 0; }
  std::string_view implementation() const override { return "reference"; }
  uint64_t work() const override { return work_; }

 private:
  std::vector<int64_t> outer_;  // the dimensions, 1 along the axis
  std::vector<int64_t> strides_;
  int64_t count_, step_;
  uint64_t work_;
};

}  // namespace

std::unique_ptr<Kernel> make_softmax_reference(const Problem& problem) {
  return reference::with_float(problem.outputs[0].dtype, [&]<typename T>(std::type_identity<T>) {
    return std::unique_ptr<Kernel>(std::make_unique<SoftmaxReference<T>>(problem));
  });
}

}  // namespace ingot
