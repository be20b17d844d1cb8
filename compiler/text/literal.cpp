#include "compiler/text/literal.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/base/convert.h"

namespace ingot::text {
namespace {

bool is_decimal(std::string_view text) { return text.find_first_not_of("0123456789") != std::string_view::npos; }

template <typename T>
std::optional<T> integer(std::string_view text, bool negative) {
  uint64_t magnitude = 0;
  const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), magnitude);
  if (code != std::errc() || at != text.data() + text.size()) return std::nullopt;
  if (!negative) {
    if (magnitude > static_cast<uint64_t>(std::numeric_limits<T>::max())) return std::nullopt;
    return static_cast<T>(magnitude);
  }
  if constexpr (std::is_unsigned_v<T>) {
    if (magnitude != 0) return std::nullopt;
    return T{0};
  } else {
    if (magnitude > static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1) return std::nullopt;
    return static_cast<T>(0 - magnitude);
  }
}

// Rounds from the text to float or double; half types go through float. Too small a number becomes zero; one above the
// greatest finite number gives nothing, also where it would round to that.
template <typename T>
std::optional<T> real(std::string_view text, bool negative) {
  using Read = std::conditional_t<std::is_same_v<T, double>, double, float>;
  Read value = 0;
  if (text == "inf") {
    value = std::numeric_limits<Read>::infinity();
  } else if (text == "nan") {
    value = std::numeric_limits<Read>::quiet_NaN();
  } else {
    const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (at != text.data() + text.size()) return std::nullopt;
    if (code == std::errc::result_out_of_range) {
      double wide = 0;
      const auto again = std::from_chars(text.data(), text.data() + text.size(), wide);
      const bool tiny = again.ec == std::errc()
                            ? std::abs(wide) < 1
                            : text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
      if (!tiny) return std::nullopt;
      value = 0;
    }
  }
  if (negative) value = -value;
  if constexpr (!std::is_same_v<T, Read>) {
    constexpr float kMost = std::is_same_v<T, Half> ? 0x1.ffcp15F : 0x1.fep127F;
    if (std::isfinite(value) && std::abs(value) > kMost) return std::nullopt;
  }
  return static_cast<T>(value);
}

}  // namespace

std::optional<DType> literal_dtype(std::string_view suffix) {
  if (suffix.empty()) return std::nullopt;
  if (suffix == "f") return DType::Float32;
  if (suffix == "i") return DType::Int32;
  const auto dtype = parse_dtype(suffix);
  return dtype == DType::Bool || dtype == DType::String ? std::nullopt : dtype;
}

bool store_literal(std::string_view text, bool negative, DType dtype, std::byte* to) {
  if (dtype == DType::String || dtype == DType::None) return false;
  return with_element(dtype, [&]<typename T>() {
    std::optional<T> value;
    if constexpr (std::is_same_v<T, bool>) {
      if (text == "0" || text == "1") value = text == "1";
    } else if constexpr (IntElement<T>) {
      if (!is_decimal(text)) value = integer<T>(text, negative);
    } else {
      value = real<T>(text, negative);
    }
    if (!value) return false;
    store_element(to, *value);
    return true;
  });
}

Ref<TensorObject> parse_literal(std::string_view text, bool negative, DType dtype) {
  auto tensor = make_tensor(nullptr, dtype, {});
  if (!store_literal(text, negative, dtype, tensor->data)) return {};
  return tensor;
}

std::optional<ir::AttrValue> literal_attribute(const TensorObject& tensor) {
  if (tensor.rank != 0 || tensor.dtype == DType::String) return std::nullopt;
  return with_element(tensor.dtype, [&]<typename T>() -> std::optional<ir::AttrValue> {
    const T value = load_element<T>(tensor.data);
    if constexpr (std::is_same_v<T, bool>)
      return value;
    else if constexpr (IntElement<T>)
      return static_cast<int64_t>(value);
    else
      return static_cast<double>(widen(value));
  });
}

}  // namespace ingot::text
