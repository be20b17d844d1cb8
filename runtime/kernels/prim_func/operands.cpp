#include "runtime/kernels/prim_func/operands.h"

namespace ingot {

std::vector<std::vector<int64_t>> buffer_dims(const Problem& problem) {
  const tir::PrimFunc& func = *problem.call->prim_func;
  std::vector<std::vector<int64_t>> dims;
  for (size_t i = 0; i < func.params - func.outputs; ++i) dims.push_back(problem.inputs[i].dims);
  for (const OperandSpec& output : problem.outputs) dims.push_back(output.dims);
  return dims;
}

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

PrimFuncOperands::PrimFuncOperands(const Problem& problem)
    : inputs_(problem.inputs.size() - problem.call->prim_func->scalars.size()),
      table_bytes_((problem.inputs.size() + problem.outputs.size()) * sizeof(void*)) {}

PrimFuncArgs PrimFuncOperands::arrange(const KernelArgs& args, std::byte* table) const noexcept {
  auto** buffers = reinterpret_cast<std::byte**>(table);
  size_t count = 0;
  for (size_t i = 0; i < inputs_; ++i) buffers[count++] = const_cast<std::byte*>(args.inputs[i]);
  for (std::byte* output : args.outputs) buffers[count++] = output;
  const void** scalars = const_cast<const void**>(reinterpret_cast<void**>(buffers + count));
  const size_t scalar_count = args.inputs.size() - inputs_;
  for (size_t i = 0; i < scalar_count; ++i) scalars[i] = args.inputs[inputs_ + i];
  return {{buffers, count}, {scalars, scalar_count}};
}

}  // namespace ingot
