#include "tests/compiler/ops/test_call.h"

#include "runtime/base/convert.h"
#include "runtime/kernels/kernel.h"

namespace ingot::ops {

TestCall::TestCall(std::string_view op, std::vector<StructInfo> infos, ir::Attrs attrs)
    : op_(find(op)), infos_(std::move(infos)), attrs_(std::move(attrs)) {
  for (size_t i = 0; i < infos_.size(); ++i) {
    auto var = std::make_shared<ir::Var>(std::string(1, static_cast<char>('a' + i)), nullptr, false, ir::Span{});
    var->info = infos_[i];
    args_.push_back(std::move(var));
  }
}

std::string TestCall::infer() const {
  try {
    return to_text(op_->infer(site()));
  } catch (const Error& error) {
    return error.label() + ": " + error.what();
  }
}

namespace {

Ref<TensorObject> tensor_of(const Array& array) {
  auto tensor = make_tensor(nullptr, array.dtype, array.dims);
  with_element(array.dtype, [&]<typename T>() {
    for (size_t i = 0; i < array.values.size(); ++i)
      store_element<T>(tensor->data + i * sizeof(T), convert<T>(array.values[i]));
  });
  return tensor;
}

std::vector<double> values_of(const TensorObject& tensor) {
  std::vector<double> values;
  with_element(tensor.dtype, [&]<typename T>() {
    for (size_t i = 0; i < tensor.bytes / sizeof(T); ++i)
      values.push_back(convert<double>(load_element<T>(tensor.data + i * sizeof(T))));
  });
  return values;
}

OperandSpec spec_of(const TensorObject& tensor) {
  return {tensor.dtype, Layout::RowMajor, {tensor.dims().begin(), tensor.dims().end()}, nullptr};
}

}  // namespace

std::vector<double> run(std::string_view op, const std::vector<Array>& args, ir::Attrs attrs) {
  std::vector<StructInfo> infos;
  std::vector<Ref<TensorObject>> tensors;
  for (const auto& arg : args) {
    std::vector<PrimExpr> dims(arg.dims.begin(), arg.dims.end());
    infos.push_back(tensor_info(arg.dtype, std::move(dims)));
    tensors.push_back(tensor_of(arg));
  }
  const TestCall call(op, infos, std::move(attrs));
  const auto site = call.site();
  const StructInfo result = site.op().infer(site);
  const auto meaning = call.define();
  if (std::holds_alternative<ir::View>(meaning)) return args[0].values;
  KernelCall kernel{.contract = Contract::prim_func};
  if (const auto* func = std::get_if<tir::PrimFuncRef>(&meaning)) {
    kernel.prim_func = *func;
  } else {
    kernel = std::get<KernelCall>(meaning);
  }
  std::vector<OperandSpec> inputs, outputs;
  std::vector<const std::byte*> input_data;
  for (const auto& tensor : tensors) {
    inputs.push_back(spec_of(*tensor));
    input_data.push_back(tensor->data);
  }
  std::vector<Ref<TensorObject>> results;
  std::vector<std::byte*> output_data;
  for (const auto& info : result->kind == InfoKind::Tuple ? result->fields : std::vector<StructInfo>{result}) {
    std::vector<int64_t> dims;
    for (const auto& dim : *info->dims) dims.push_back(evaluate(dim, [](const SymVar&) { return std::nullopt; }));
    results.push_back(make_tensor(nullptr, info->dtype, dims));
    outputs.push_back(spec_of(*results.back()));
    output_data.push_back(results.back()->data);
  }
  kernel.inputs = static_cast<uint16_t>(inputs.size());
  kernel.outputs = static_cast<uint16_t>(outputs.size());
  const auto prepared = prepare_kernel({.call = &kernel, .inputs = inputs, .outputs = outputs});
  const int64_t scratch_dims[] = {static_cast<int64_t>(prepared.kernel->scratch_bytes())};
  const auto scratch = make_tensor(nullptr, DType::UInt8, scratch_dims);
  const auto status = prepared.kernel->run({input_data, output_data, scratch->data, {}});
  if (status.failed) fail(status.code, "{}", status.message != nullptr ? status.message : "");
  return values_of(*results[0]);
}

}  // namespace ingot::ops
