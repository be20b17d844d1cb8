#include "runtime/kernels/prim_func/prim_func.h"

#include "runtime/base/error.h"
#include "runtime/kernels/check.h"

namespace ingot {
namespace {

void check_buffer(const std::string& func, const tir::Buffer& buffer, const OperandSpec& operand) {
  if (operand.dtype != buffer.dtype)
    fail(ErrorCode::TypeError, "{}: {} has dtype {}, {} is needed", func, buffer.name, dtype_name(operand.dtype),
         dtype_name(buffer.dtype));
  if (operand.dims.size() != buffer.dims.size())
    fail(ErrorCode::ShapeMismatch, "{}: {} has shape {} of rank {}, rank {} is needed", func, buffer.name,
         shape_text(operand.dims), operand.dims.size(), buffer.dims.size());
}

}  // namespace

void check_prim_func(const Problem& problem) {
  const KernelCall& call = *problem.call;
  if (!call.prim_func) fail(ErrorCode::CorruptFile, "prim_func: the call names no function");
  check_attributes(call, {});
  if (!call.post_ops.empty())
    fail(ErrorCode::Unsupported, "prim_func: takes no post-ops, the call has {}", post_op_name(call.post_ops[0].kind));
  const tir::PrimFunc& func = *call.prim_func;
  if (func.outputs > func.params || func.params > func.buffers.size())
    fail(ErrorCode::CorruptFile, "{}: {} outputs of {} parameters of {} buffers", func.name, func.outputs, func.params,
         func.buffers.size());
  const size_t buffers = func.params - func.outputs;
  if (problem.inputs.size() != buffers + func.scalars.size() || problem.outputs.size() != func.outputs)
    fail(ErrorCode::ArityMismatch, "{}: takes {} inputs, {} scalars and {} outputs, the call has {} and {}", func.name,
         buffers, func.scalars.size(), func.outputs, problem.inputs.size(), problem.outputs.size());
  for (size_t i = 0; i < buffers; ++i) check_buffer(func.name, func.buffers[i], problem.inputs[i]);
  for (size_t i = 0; i < func.outputs; ++i) check_buffer(func.name, func.buffers[buffers + i], problem.outputs[i]);
  for (size_t i = 0; i < func.scalars.size(); ++i) {
    const OperandSpec& operand = problem.inputs[buffers + i];
    const tir::LetVar& scalar = *func.scalars[i].var;
    if (!operand.dims.empty())
      fail(ErrorCode::ShapeMismatch, "{}: {} has shape {}, a scalar is needed", func.name, scalar.name,
           shape_text(operand.dims));
    if (operand.dtype != scalar.dtype)
      fail(ErrorCode::TypeError, "{}: {} has dtype {}, {} is needed", func.name, scalar.name, dtype_name(operand.dtype),
           dtype_name(scalar.dtype));
  }
}

std::vector<bool> prim_func_in_place(const Problem& problem, std::vector<bool> in_place_inputs) {
  for (size_t i = 0; i < in_place_inputs.size(); ++i)
    in_place_inputs[i] = in_place_inputs[i] && problem.inputs[i].dims == problem.outputs[0].dims;
  return in_place_inputs;
}

}  // namespace ingot
