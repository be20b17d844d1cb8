#include "runtime/kernels/reference.h"

#include "runtime/kernels/binary_add/binary_add.h"
#include "runtime/kernels/check.h"
#include "runtime/kernels/strides.h"

namespace ingot {
namespace {

template <typename T>
class BinaryAddReference final : public Kernel {
 public:
  explicit BinaryAddReference(const Problem& problem)
      : dims_(problem.outputs[0].dims),
        a_strides_(strides_of(problem.inputs[0])),
        b_strides_(strides_of(problem.inputs[1])),
        output_strides_(strides_of(problem.outputs[0])),
        post_ops_(problem, 2) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    const auto* a = reinterpret_cast<const T*>(args.inputs[0]);
    const auto* b = reinterpret_cast<const T*>(args.inputs[1]);
    auto* output = reinterpret_cast<T*>(args.outputs[0]);
    return reference::for_each_index(dims_, args, 1, [&](const reference::Index& at) {
      const auto value = reference::to_sum(a[at.offset(a_strides_)]) + reference::to_sum(b[at.offset(b_strides_)]);
      output[at.offset(output_strides_)] = reference::from_sum<T>(post_ops_.apply<T>(value, at, args));
    });
  }
  bool runs_in_place(size_t input) const override { return input == 0 && a_strides_ == output_strides_; }
  std::string_view implementation() const override { return "reference"; }
  uint64_t work() const override { return count_elements(dims_); }

 private:
  std::vector<int64_t> dims_, a_strides_, b_strides_, output_strides_;
  reference::PostOps post_ops_;
};

}  // namespace

std::unique_ptr<Kernel> make_binary_add_reference(const Problem& problem) {
  return reference::with_type(problem.outputs[0].dtype, [&]<typename T>(std::type_identity<T>) {
    return std::unique_ptr<Kernel>(std::make_unique<BinaryAddReference<T>>(problem));
  });
}

}  // namespace ingot
