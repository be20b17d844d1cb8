#include "compiler/evaluator/operators.h"

#include "runtime/checks/faults.h"
#include "runtime/checks/match.h"
#include "runtime/kernels/kernel.h"
#include "runtime/object/objects.h"
#include "runtime/tir/interpreter.h"

namespace ingot::evaluator {
namespace {

std::vector<StructInfo> flatten(const StructInfo& result) {
  if (result->kind == InfoKind::Tuple) return result->fields;
  return {result};
}

std::vector<int64_t> concrete_dims(const StructInfo& info) {
  if (info->kind != InfoKind::Tensor || !info->dims)
    fail(ErrorCode::Internal, "evaluator: an operator's result has unknown dimensions: {}", to_text(info));
  std::vector<int64_t> dims;
  for (const auto& dim : *info->dims) dims.push_back(dim_value(dim, {}));
  return dims;
}

Value collect(std::vector<Ref<TensorObject>> outputs, bool tuple) {
  if (!tuple) return to_value(std::move(outputs[0]));
  std::vector<Value> fields;
  for (auto& output : outputs) fields.push_back(to_value(std::move(output)));
  return Value(ingot::make_tuple(nullptr, fields));
}

void raise(const tir::RunStatus& status, Contract contract, const tir::PrimFunc* func) {
  if (status.failed) fail_kernel(status.code, contract_name(contract), tir::fault_text(status, func));
}

struct Buffers {
  std::vector<Ref<TensorObject>> inputs, outputs;
};

Buffers make_buffers(std::span<const Value> inputs, std::span<const StructInfo> outputs) {
  Buffers buffers;
  for (const auto& input : inputs) buffers.inputs.push_back(to_tensor(nullptr, input));
  for (const auto& output : outputs)
    buffers.outputs.push_back(make_tensor(nullptr, output->dtype, concrete_dims(output)));
  return buffers;
}

// What kernels and PrimFuncs of an operator read: its tensor arguments in order, tuples flattened.
void add_tensors(const Value& value, std::vector<Value>& tensors) {
  if (value.kind() == Kind::Scalar || value.kind() == Kind::Tensor) tensors.push_back(Value::copy_of(value.slot()));
  if (value.kind() == Kind::Tuple)
    for (const Slot& field : value.get<TupleObject>()->fields()) add_tensors(Value::copy_of(field), tensors);
}

Ref<TensorObject> make_scratch(size_t bytes) {
  const int64_t dims[] = {static_cast<int64_t>(bytes)};
  return make_tensor(nullptr, DType::UInt8, dims);
}

Value run_kernel(const KernelCall& call, std::span<const Value> args, std::span<const StructInfo> outputs, bool tuple) {
  Buffers buffers = make_buffers(args, outputs);
  const auto specs = [](std::span<const Ref<TensorObject>> tensors) {
    std::vector<OperandSpec> result;
    for (const auto& tensor : tensors)
      result.push_back({tensor->dtype, Layout::RowMajor, {tensor->dims().begin(), tensor->dims().end()}, nullptr});
    return result;
  };
  const auto inputs = specs(buffers.inputs);
  const auto results = specs(buffers.outputs);
  Problem problem{&call, inputs, results};
  const PreparedKernel prepared = prepare_kernel(problem, "reference");
  std::vector<const std::byte*> input_data;
  for (const auto& tensor : buffers.inputs) input_data.push_back(tensor->data);
  std::vector<std::byte*> output_data;
  for (const auto& tensor : buffers.outputs) output_data.push_back(tensor->data);
  const auto scratch = make_scratch(prepared.kernel->scratch_bytes());
  raise(prepared.kernel->run({input_data, output_data, scratch->data, {}}), call.contract, call.prim_func.get());
  return collect(std::move(buffers.outputs), tuple);
}

}  // namespace

Value apply_prim_func(const tir::PrimFuncRef& func, std::span<const Value> inputs, std::span<const int64_t> scalars,
                      std::span<const StructInfo> outputs) {
  Buffers buffers = make_buffers(inputs, outputs);
  std::vector<std::vector<int64_t>> dims;
  std::vector<std::byte*> data;
  for (auto* list : {&buffers.inputs, &buffers.outputs})
    for (const auto& tensor : *list) {
      dims.emplace_back(tensor->dims().begin(), tensor->dims().end());
      data.push_back(tensor->data);
    }
  const tir::Interpreter interpreter(func, dims, scalars);
  const auto scratch = make_scratch(interpreter.scratch_bytes());
  std::vector<const void*> scalar_payloads;
  for (const int64_t& scalar : scalars) scalar_payloads.push_back(&scalar);
  raise(interpreter.run(data, scalar_payloads, scratch->data, {}), Contract::prim_func, func.get());
  return collect(std::move(buffers.outputs), outputs.size() != 1);
}

Value apply_operator(const ir::Call& call, const ir::Op& op, std::span<const Value> args, const EvaluateExpr& evaluate,
                     const CallBuiltin& builtin) {
  std::vector<StructInfo> infos;
  for (const auto& arg : args) infos.push_back(info_of(arg.slot()));
  const ir::CallSite site(op, call.args, infos, call.attrs, call.info_args);
  const StructInfo result = op.infer(site);
  const ir::Meaning meaning = op.define(site);
  const bool tuple = result->kind == InfoKind::Tuple;

  std::vector<Value> tensors;
  for (const auto& arg : args) add_tensors(arg, tensors);
  if (const auto* func = std::get_if<tir::PrimFuncRef>(&meaning))
    return apply_prim_func(*func, tensors, {}, flatten(result));
  if (const auto* kernel = std::get_if<KernelCall>(&meaning))
    return run_kernel(*kernel, std::span(tensors).first(std::min<size_t>(kernel->inputs, tensors.size())),
                      flatten(result), tuple);
  if (const auto* call_builtin = std::get_if<ir::BuiltinCall>(&meaning)) return builtin(call_builtin->builtin, args);
  if (std::holds_alternative<ir::View>(meaning))
    return to_value(make_view(nullptr, to_tensor(nullptr, args[0]), concrete_dims(result)));
  return evaluate(std::get<ir::Expr>(meaning));
}

}  // namespace ingot::evaluator
