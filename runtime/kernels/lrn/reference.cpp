#include "runtime/kernels/reference.h"

#include <cmath>

#include "runtime/kernels/check.h"
#include "runtime/kernels/lrn/lrn.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

template <typename T>
class LrnReference final : public Kernel {
 public:
  explicit LrnReference(const Problem& problem)
      : attributes_(lrn_attributes(*problem.call)),
        dims_(problem.inputs[0].dims),
        data_strides_(strides_of(problem.inputs[0])),
        output_strides_(strides_of(problem.outputs[0])) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    const auto* data = reinterpret_cast<const T*>(args.inputs[0]);
    auto* output = reinterpret_cast<T*>(args.outputs[0]);
    const int64_t before = (attributes_.size - 1) / 2;
    const int64_t after = attributes_.size - 1 - before;
    const int64_t cost = std::min(attributes_.size, dims_[1]);
    return reference::for_each_index(dims_, args, cost, [&](const reference::Index& at) {
      const int64_t here = at.offset(data_strides_);
      const int64_t last = std::min(dims_[1] - 1, at[1] + after);
      double squares = 0;
      for (int64_t c = std::max<int64_t>(0, at[1] - before); c <= last; ++c) {
        const double value = reference::to_sum(data[here + (c - at[1]) * data_strides_[1]]);
        squares += value * value;
      }
      const double scale = attributes_.bias + attributes_.alpha / static_cast<double>(attributes_.size) * squares;
      output[at.offset(output_strides_)] =
          reference::from_sum<T>(reference::to_sum(data[here]) / std::pow(scale, attributes_.beta));
    });
  }
  std::string_view implementation() const override { return "reference"; }
  uint64_t work() const override {
    return saturating_product({static_cast<int64_t>(count_elements(dims_)), std::min(attributes_.size, dims_[1])});
  }

 private:
  LrnAttributes attributes_;
  std::vector<int64_t> dims_, data_strides_, output_strides_;
};

}  // namespace

std::unique_ptr<Kernel> make_lrn_reference(const Problem& problem) {
  return reference::with_float(problem.outputs[0].dtype, [&]<typename T>(std::type_identity<T>) {
    return std::unique_ptr<Kernel>(std::make_unique<LrnReference<T>>(problem));
  });
}

}  // namespace ingot
