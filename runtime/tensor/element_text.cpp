#include "runtime/tensor/element_text.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "runtime/base/convert.h"
#include "runtime/base/error.h"

namespace ingot {
namespace {

template <HalfElement T>
std::string shortest_half(T value) {
  const float wide = widen(value);
  // 65500 would read back as 65504, but nobody expects it.
  if (wide == std::trunc(wide) && std::fabs(wide) < 0x1p24f) return fmt::format("{}", wide);
  for (int digits = 1;; ++digits) {
    std::string text = fmt::format("{:.{}g}", wide, digits);
    float back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    // Nine digits tell any two floats apart.
    if (digits == 9 || T(back) == value) return fmt::format("{}", back);
  }
}

template <FloatElement T>
void append_float(std::string& text, T value) {
  const auto wide = widen(value);
  if (std::isnan(wide)) {
    text += "nan";
  } else if constexpr (HalfElement<T>) {
    text += std::isinf(wide) ? fmt::format("{}", wide) : shortest_half(value);
  } else {
    fmt::format_to(std::back_inserter(text), "{}", wide);
  }
}

// from_chars for the types that it knows.
template <typename T>
T parse_number(std::string_view text, DType dtype) {
  T value{};
  const char* end = text.data() + text.size();
  const char* begin = text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.data() + 1 : text.data();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range && stop == end)
    fail(ErrorCode::InvalidArgument, "{} does not fit {}", text, dtype_name(dtype));
  if (error != std::errc() || stop != end)
    fail(ErrorCode::InvalidArgument, "'{}' is not a number of dtype {}", text, dtype_name(dtype));
  return value;
}

bool parse_bool(std::string_view text) {
  if (text == "1" || text == "true") return true;
  if (text == "0" || text == "false") return false;
  fail(ErrorCode::InvalidArgument, "'{}' is not a bool: 0, 1, false or true", text);
}

// A half that is not infinite unless the text says so.
template <HalfElement T>
T parse_half(std::string_view text, DType dtype) {
  const auto wide = parse_number<float>(text, dtype);
  const T value(wide);
  if (std::isinf(widen(value)) && !std::isinf(wide))
    fail(ErrorCode::InvalidArgument, "{} does not fit {}", text, dtype_name(dtype));
  return value;
}

}  // namespace

void append_element(std::string& text, DType dtype, const void* element) {
  with_element(dtype, [&]<typename T>() {
    const T value = load_element<T>(element);
    if constexpr (std::same_as<T, bool>) {
      text += value ? '1' : '0';
    } else if constexpr (IntElement<T>) {
      fmt::format_to(std::back_inserter(text), "{}", value);
    } else {
      append_float(text, value);
    }
  });
}

void parse_element(std::string_view text, DType dtype, void* element) {
  with_element(dtype, [&]<typename T>() {
    if constexpr (std::same_as<T, bool>) {
      store_element(element, parse_bool(text));
    } else if constexpr (HalfElement<T>) {
      store_element(element, parse_half<T>(text, dtype));
    } else {
      store_element(element, parse_number<T>(text, dtype));
    }
  });
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace ingot
