#include "compiler/onnx/known_elements.h"

#include <array>

#include "runtime/base/convert.h"
#include "runtime/tensor/tensor.h"

namespace ingot::onnx_import {
namespace {

constexpr size_t kMaxElements = 4096;

// The dimensions as numbers, where they name at most kMaxElements elements.
std::optional<std::vector<int64_t>> known_dims(const Typed& x) {
  if (!x.is_tensor() || !x.info->dims || !is_integer(x.dtype())) return std::nullopt;
  std::vector<int64_t> dims;
  int64_t count = 1;
  for (const auto& dim : x.dims()) {
    const auto known = dim.as_const();
    if (!known || *known > static_cast<int64_t>(kMaxElements)) return std::nullopt;
    dims.push_back(*known);
    count *= *known;
    if (count > static_cast<int64_t>(kMaxElements)) return std::nullopt;
  }
  return dims;
}

}  // namespace

std::optional<Dims> known_elements(const Typed& x) {
  if (!known_dims(x)) return std::nullopt;
  if (x.rank() <= 1) return known_values(x);
  if (x.elements) return x.elements;
  const TensorObject* tensor = x.constant();
  if (tensor == nullptr) return std::nullopt;
  Dims elements;
  with_element(tensor->dtype, [&]<typename T>() {
    for (size_t i = 0; i < tensor->bytes / sizeof(T); ++i)
      elements.emplace_back(convert<int64_t>(load_element<T>(tensor->data + i * sizeof(T))));
  });
  return elements;
}

Typed with_elements(GraphBuilder& b, Typed result, Dims elements) {
  if (result.rank() <= 1) return b.tensor_of(std::move(elements), result.rank(), result.dtype());
  result.elements = std::move(elements);
  return result;
}

Typed with_elements_of(GraphBuilder& b, const Typed& from, Typed result,
                       const std::function<void(std::span<const int64_t> to, std::span<int64_t> at)>& source) {
  const auto elements = known_elements(from);
  const auto in = known_dims(from), out = known_dims(result);
  if (!elements || !in || !out) return result;
  Dims picked;
  std::array<int64_t, kMaxRank> to{}, at{};
  int64_t count = 1;
  for (const int64_t dim : *out) count *= dim;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t d = out->size(); d-- > 0; rest /= (*out)[d]) to[d] = rest % (*out)[d];
    source(std::span(to).first(out->size()), std::span(at).first(in->size()));
    int64_t place = 0;
    for (size_t d = 0; d < in->size(); ++d) place = place * (*in)[d] + at[d];
    picked.push_back((*elements)[static_cast<size_t>(place)]);
  }
  return with_elements(b, std::move(result), std::move(picked));
}

}  // namespace ingot::onnx_import
