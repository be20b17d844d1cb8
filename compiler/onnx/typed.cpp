#include "compiler/onnx/typed.h"

#include "runtime/base/convert.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::onnx_import {

const TensorObject* Typed::constant() const {
  const auto* constant = ir::as<ir::Constant>(expr);
  return constant == nullptr ? nullptr : constant->data.get();
}

const Dims& Typed::dims() const {
  if (!is_tensor()) fail(ErrorCode::TypeError, "an operand is no tensor");
  if (!info->dims) fail(ErrorCode::Unsupported, "the rank of {} is not known before the model runs", to_text(info));
  return *info->dims;
}

std::optional<Dims> known_values(const Typed& x) {
  if (x.values) return x.values;
  const TensorObject* tensor = x.constant();
  if (tensor == nullptr || tensor->rank > 1 || is_float(tensor->dtype) || tensor->dtype == DType::String)
    return std::nullopt;
  const size_t count = tensor->bytes / dtype_bytes(tensor->dtype);
  if (count > 4096) return std::nullopt;
  Dims values;
  with_element(tensor->dtype, [&]<typename T>() {
    for (size_t i = 0; i < count; ++i)
      values.emplace_back(convert<int64_t>(load_element<T>(tensor->data + i * sizeof(T))));
  });
  return values;
}

std::optional<std::vector<int64_t>> known_integers(const Typed& x) {
  const auto values = known_values(x);
  if (!values) return std::nullopt;
  std::vector<int64_t> integers;
  for (const auto& value : *values) {
    const auto known = value.as_const();
    if (!known) return std::nullopt;
    integers.push_back(*known);
  }
  return integers;
}

std::vector<std::optional<PrimExpr>> partly_known_values(const Typed& x) {
  if (!x.partly.empty()) return x.partly;
  const auto values = known_values(x);
  if (!values) return {};
  return {values->begin(), values->end()};
}

std::optional<double> known_number(const Typed& x) {
  if (x.values && x.values->size() == 1)
    if (const auto known = x.values->front().as_const()) return static_cast<double>(*known);
  const TensorObject* tensor = x.constant();
  if (tensor == nullptr || tensor->dtype == DType::String || tensor->bytes != dtype_bytes(tensor->dtype))
    return std::nullopt;
  return with_element(tensor->dtype, [&]<typename T>() { return convert<double>(load_element<T>(tensor->data)); });
}

StructInfo common_info(const StructInfo& a, const StructInfo& b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (a->kind != b->kind) return object_info();
  if (a->kind != InfoKind::Tensor) return is_compatible(a, b) == Compatibility::Compatible ? b : object_info();
  const DType dtype = a->dtype == b->dtype ? a->dtype : DType::None;
  if (!a->rank || a->rank != b->rank) return tensor_info(dtype);
  if (!a->dims || !b->dims) return tensor_info(dtype, *a->rank);
  for (size_t d = 0; d < a->dims->size(); ++d)
    if (prove_equal((*a->dims)[d], (*b->dims)[d]) != Proof::Yes) return tensor_info(dtype, *a->rank);
  return tensor_info(dtype, *a->dims);
}

bool covers(const StructInfo& a, const StructInfo& b) {
  if (a == nullptr || b == nullptr) return a == b || b == nullptr;
  return is_compatible(b, a) == Compatibility::Compatible;
}

}  // namespace ingot::onnx_import
