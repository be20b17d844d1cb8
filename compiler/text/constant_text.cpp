#include "compiler/text/constant_text.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "compiler/ir/attrs.h"
#include "runtime/base/convert.h"
#include "runtime/object/objects.h"

namespace ingot::text {
namespace {

std::string element_text(const TensorObject& tensor, size_t i) {
  if (tensor.dtype == DType::String) {
    const StringObject* text = tensor.elements<StringObject*>()[i];
    return ir::quoted(text == nullptr ? "" : text->text());
  }
  return with_element(tensor.dtype, [&]<typename T>() -> std::string {
    const T value = load_element<T>(tensor.data + i * sizeof(T));
    if constexpr (std::same_as<T, bool>)
      return value ? "True" : "False";
    else if constexpr (IntElement<T>)
      return fmt::format("{}", value);
    else
      return ir::decimal_text(widen(value));
  });
}

bool is_finite(const TensorObject& scalar) {
  if (!is_float(scalar.dtype)) return true;
  return with_element(scalar.dtype, [&]<typename T>() {
    if constexpr (FloatElement<T>)
      return std::isfinite(static_cast<double>(widen(load_element<T>(scalar.data))));
    else
      return true;
  });
}

bool all_equal(const TensorObject& tensor, size_t count) {
  if (tensor.dtype == DType::String || count < 2) return false;
  const size_t bytes = dtype_bytes(tensor.dtype);
  return std::memcmp(tensor.data, tensor.data + bytes, (count - 1) * bytes) == 0;
}

}  // namespace

std::string constant_text(const TensorObject& tensor, bool adapts, size_t most_elements) {
  if (tensor.rank == 0 && tensor.dtype != DType::String) {
    if (adapts || tensor.dtype == DType::Bool) return element_text(tensor, 0);
    if (is_finite(tensor)) return element_text(tensor, 0) + std::string(dtype_info(tensor.dtype).brief);
  }
  const size_t count = element_count(tensor.dims());
  std::string elements;
  if (tensor.rank == 0 || all_equal(tensor, count)) {
    elements = element_text(tensor, 0);
  } else if (most_elements != 0 && count > most_elements) {
    elements = "...";
  } else {
    elements = "[";
    for (size_t i = 0; i < count; ++i) {
      if (i != 0) elements += ", ";
      elements += element_text(tensor, i);
    }
    elements += "]";
  }
  return fmt::format("Constant({}, {}, {})", elements, shape_text(tensor.dims()), dtype_name(tensor.dtype));
}

}  // namespace ingot::text
