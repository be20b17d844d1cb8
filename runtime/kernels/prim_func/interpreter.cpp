#include "runtime/tir/interpreter.h"

#include "runtime/kernels/prim_func/prim_func.h"

namespace ingot {
namespace {

std::vector<std::vector<int64_t>> buffer_dims(const Problem& problem) {
  const tir::PrimFunc& func = *problem.call->prim_func;
  std::vector<std::vector<int64_t>> dims;
  for (size_t i = 0; i < func.params - func.outputs; ++i) dims.push_back(problem.inputs[i].dims);
  for (const OperandSpec& output : problem.outputs) dims.push_back(output.dims);
  return dims;
}

// Empty where the value of one that sizes may depend on is not known yet.
std::vector<int64_t> scalar_values(const Problem& problem) {
  std::vector<int64_t> values;
  for (size_t i = problem.inputs.size() - problem.call->prim_func->scalars.size(); i < problem.inputs.size(); ++i) {
    const OperandSpec& scalar = problem.inputs[i];
    if (scalar.dtype != DType::Int64)
      values.push_back(0);
    else if (scalar.value)
      values.push_back(*scalar.value);
    else
      return {};
  }
  return values;
}

class PrimFuncInterpreter final : public Kernel {
 public:
  explicit PrimFuncInterpreter(const Problem& problem)
      : interpreter_(problem.call->prim_func, buffer_dims(problem), scalar_values(problem)),
        buffers_(problem.inputs.size() - problem.call->prim_func->scalars.size()),
        in_place_(prim_func_in_place(problem)),
        table_bytes_((problem.inputs.size() + problem.outputs.size()) * sizeof(void*)) {}

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    // Behind the interpreter's own scratch: the addresses of buffers, then those of scalars.
    auto** buffers = reinterpret_cast<std::byte**>(args.scratch + interpreter_.scratch_bytes());
    size_t count = 0;
    for (size_t i = 0; i < buffers_; ++i) buffers[count++] = const_cast<std::byte*>(args.inputs[i]);
    for (std::byte* output : args.outputs) buffers[count++] = output;
    const void** scalars = const_cast<const void**>(reinterpret_cast<void**>(buffers + count));
    const size_t scalar_count = args.inputs.size() - buffers_;
    for (size_t i = 0; i < scalar_count; ++i) scalars[i] = args.inputs[buffers_ + i];
    return interpreter_.run(std::span(buffers, count), std::span(scalars, scalar_count), args.scratch, args.poll);
  }
  size_t scratch_bytes() const override { return interpreter_.scratch_bytes() + table_bytes_; }
  bool runs_in_place(size_t input) const override { return input < in_place_.size() && in_place_[input]; }
  std::string_view implementation() const override { return "interpreter"; }
  uint64_t work() const override { return interpreter_.work(); }

 private:
  tir::Interpreter interpreter_;
  size_t buffers_;  // inputs that are buffers
  std::vector<bool> in_place_;
  size_t table_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> make_prim_func_interpreter(const Problem& problem) {
  return std::make_unique<PrimFuncInterpreter>(problem);
}

}  // namespace ingot
