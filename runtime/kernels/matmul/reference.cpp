#include "runtime/kernels/reference.h"

#include "runtime/kernels/check.h"
#include "runtime/kernels/matmul/matmul.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

template <typename T>
class MatmulReference final : public Kernel {
 public:
  explicit MatmulReference(const Problem& problem)
      : attributes_(matmul_attributes(*problem.call)),
        shape_(matmul_shape(problem)),
        output_dims_(problem.outputs[0].dims),
        output_strides_(strides_of(problem.outputs[0])),
        post_ops_(problem, attributes_.has_bias ? 3 : 2) {
    if (attributes_.has_bias) bias_strides_ = broadcast_strides(problem.inputs[2], output_dims_);
    const bool row = problem.inputs[0].dims.size() > 1;
    const bool column = problem.inputs[1].dims.size() > 1;
    a_strides_ = shape_.a_batch;
    b_strides_ = shape_.b_batch;
    if (row) a_strides_.push_back(shape_.a_row);
    if (row) b_strides_.push_back(0);
    if (column) a_strides_.push_back(0);
    if (column) b_strides_.push_back(shape_.b_column);
  }

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    const auto* bias = attributes_.has_bias ? reinterpret_cast<const T*>(args.inputs[2]) : nullptr;
    auto* output = reinterpret_cast<T*>(args.outputs[0]);
    return reference::for_each_index(output_dims_, args, shape_.k + 1, [&](const reference::Index& at) {
      const auto* a = reinterpret_cast<const T*>(args.inputs[0]) + at.offset(a_strides_);
      const auto* b = reinterpret_cast<const T*>(args.inputs[1]) + at.offset(b_strides_);
      reference::Sum<T> sum{0};
      for (int64_t k = 0; k < shape_.k; ++k)
        sum += reference::to_sum(a[k * shape_.a_column]) * reference::to_sum(b[k * shape_.b_row]);
      if (attributes_.alpha != 1) sum *= reference::sum_of<T>(attributes_.alpha);
      if (bias) sum += reference::sum_of<T>(attributes_.beta) * reference::to_sum(bias[at.offset(bias_strides_)]);
      output[at.offset(output_strides_)] = reference::from_sum<T>(post_ops_.apply<T>(sum, at, args));
    });
  }
  std::string_view implementation() const override { return "reference"; }
  uint64_t work() const override {
    return saturating_product({static_cast<int64_t>(count_elements(output_dims_)), shape_.k});
  }

 private:
  MatmulAttributes attributes_;
  MatmulShape shape_;
  std::vector<int64_t> output_dims_, output_strides_, bias_strides_;
  std::vector<int64_t> a_strides_, b_strides_;  // over the output's dimensions
  reference::PostOps post_ops_;
};

}  // namespace

std::unique_ptr<Kernel> make_matmul_reference(const Problem& problem) {
  return reference::with_type(problem.outputs[0].dtype, [&]<typename T>(std::type_identity<T>) {
    return std::unique_ptr<Kernel>(std::make_unique<MatmulReference<T>>(problem));
  });
}

}  // namespace ingot
