#include "runtime/kernels/reference.h"

#include "runtime/kernels/check.h"
#include "runtime/kernels/conv2d/conv2d.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

template <typename T>
class Conv2dReference final : public Kernel {
 public:
  explicit Conv2dReference(const Problem& problem)
      : attributes_(conv2d_attributes(*problem.call)),
        data_dims_(problem.inputs[0].dims),
        weight_dims_(problem.inputs[1].dims),
        output_dims_(problem.outputs[0].dims),
        data_strides_(strides_of(problem.inputs[0])),
        weight_strides_(strides_of(problem.inputs[1])),
        output_strides_(strides_of(problem.outputs[0])),
        post_ops_(problem, attributes_.has_bias ? 3 : 2) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    const auto* bias = attributes_.has_bias ? reinterpret_cast<const T*>(args.inputs[2]) : nullptr;
    auto* output = reinterpret_cast<T*>(args.outputs[0]);
    const int64_t cost = weight_dims_[1] * weight_dims_[2] * weight_dims_[3] + 1;
    return reference::for_each_index(output_dims_, args, cost, [&](const reference::Index& at) {
      auto sum = bias ? reference::to_sum(bias[at[1]]) : reference::Sum<T>{0};
      sum += window_sum(at, args);
      output[at.offset(output_strides_)] = reference::from_sum<T>(post_ops_.apply<T>(sum, at, args));
    });
  }
  std::string_view implementation() const override { return "reference"; }
  uint64_t work() const override {
    return saturating_product(
        {static_cast<int64_t>(count_elements(output_dims_)), weight_dims_[1], weight_dims_[2], weight_dims_[3]});
  }

 private:
  reference::Sum<T> window_sum(const reference::Index& at, const KernelArgs& args) const {
    const auto* data = reinterpret_cast<const T*>(args.inputs[0]);
    const auto* weight = reinterpret_cast<const T*>(args.inputs[1]);
    const int64_t group = at[1] / (weight_dims_[0] / attributes_.groups);
    reference::Sum<T> sum{0};
    for (int64_t c = 0; c < weight_dims_[1]; ++c)
      for (int64_t y = 0; y < weight_dims_[2]; ++y)
        for (int64_t x = 0; x < weight_dims_[3]; ++x) {
          const int64_t row = at[2] * attributes_.strides[0] - attributes_.padding[0] + y * attributes_.dilation[0];
          const int64_t column = at[3] * attributes_.strides[1] - attributes_.padding[1] + x * attributes_.dilation[1];
          if (row < 0 || row >= data_dims_[2] || column < 0 || column >= data_dims_[3]) continue;
          const int64_t from = at[0] * data_strides_[0] + (group * weight_dims_[1] + c) * data_strides_[1] +
                               row * data_strides_[2] + column * data_strides_[3];
          const int64_t with =
              at[1] * weight_strides_[0] + c * weight_strides_[1] + y * weight_strides_[2] + x * weight_strides_[3];
          sum += reference::to_sum(data[from]) * reference::to_sum(weight[with]);
        }
    return sum;
  }

  Conv2dAttributes attributes_;
  std::vector<int64_t> data_dims_, weight_dims_, output_dims_;
  std::vector<int64_t> data_strides_, weight_strides_, output_strides_;
  reference::PostOps post_ops_;
};

}  // namespace

std::unique_ptr<Kernel> make_conv2d_reference(const Problem& problem) {
  return reference::with_type(problem.outputs[0].dtype, [&]<typename T>(std::type_identity<T>) {
    return std::unique_ptr<Kernel>(std::make_unique<Conv2dReference<T>>(problem));
  });
}

}  // namespace ingot
