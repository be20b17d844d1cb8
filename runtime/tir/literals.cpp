#include "runtime/tir/literals.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "runtime/base/convert.h"

namespace ingot::tir {
namespace {

template <Element T>
uint64_t to_bits(T value) {
  uint64_t bits = 0;
  store_element(&bits, value);
  return bits;
}

template <typename F>
std::optional<F> parse_float(std::string_view digits) {
  if (digits == "inf") return std::numeric_limits<F>::infinity();
  if (digits == "nan") return std::numeric_limits<F>::quiet_NaN();
  F value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const size_t exponent = digits.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos && digits.substr(exponent + 1).starts_with('-');
    if (!tiny) return std::nullopt;
    value = 0;
  }
  return value;
}

}  // namespace

std::string literal_text(DType dtype, uint64_t bits) {
  return with_element(dtype, [&]<typename T>() -> std::string {
    const T value = load_element<T>(&bits);
    const std::string_view suffix = dtype_info(dtype).brief;
    if constexpr (std::same_as<T, bool>) {
      return value ? "True" : "False";
    } else if constexpr (IntElement<T>) {
      return fmt::format("{}{}", value, suffix);
    } else {
      const auto wide = widen(value);
      const T usual = narrow<T>(std::numeric_limits<Wide<T>>::quiet_NaN());
      if (std::isnan(wide)) {
        return bits == to_bits(usual) ? fmt::format("nan{}", suffix)
                                      : fmt::format("bits({:#x}, {})", bits, dtype_name(dtype));
      }
      return fmt::format("{}{}", wide, suffix);
    }
  });
}

std::optional<uint64_t> literal_bits(DType dtype, NumberText number, bool negative) {
  return with_element(dtype, [&]<typename T>() -> std::optional<uint64_t> {
    if constexpr (std::same_as<T, bool>) {
      return std::nullopt;
    } else if constexpr (IntElement<T>) {
      if (number.is_float) return std::nullopt;
      const std::string spelled = fmt::format("{}{}", negative ? "-" : "", number.digits);
      T value = 0;
      const auto [end, error] = std::from_chars(spelled.data(), spelled.data() + spelled.size(), value);
      if (error != std::errc() || end != spelled.data() + spelled.size()) return std::nullopt;
      return to_bits(value);
    } else {
      const auto magnitude = parse_float<Wide<T>>(number.digits);
      if (!magnitude) return std::nullopt;
      const T value = narrow<T>(negative ? -*magnitude : *magnitude);
      if (std::isinf(widen(value)) && number.digits != "inf") return std::nullopt;
      return to_bits(value);
    }
  });
}

std::optional<DType> literal_suffix(std::string_view text) {
  if (text == "f") return DType::Float32;
  const auto dtype = parse_dtype(text);
  const bool is_brief = dtype && dtype_info(*dtype).brief == text && (is_integer(*dtype) || is_float(*dtype));
  return is_brief ? dtype : std::nullopt;
}

std::optional<NamedNumber> named_number(std::string_view name) {
  const std::string_view head = name.substr(0, 3);
  if (head != "inf" && head != "nan") return std::nullopt;
  NamedNumber result{{head, true}, DType::None};
  if (name.size() == 3) return result;
  const auto suffix = literal_suffix(name.substr(3));
  if (!suffix || !is_float(*suffix)) return std::nullopt;
  result.dtype = *suffix;
  return result;
}

}  // namespace ingot::tir
