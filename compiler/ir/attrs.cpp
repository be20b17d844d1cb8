#include "compiler/ir/attrs.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace ingot::ir {
namespace {

template <typename T>
std::string decimal(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <typename T>
std::string list_text(const std::vector<T>& values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) text += ", ";
    if constexpr (std::is_same_v<T, double>)
      text += decimal_text(values[i]);
    else
      text += fmt::format("{}", values[i]);
  }
  return text + (values.size() == 1 ? ",)" : ")");
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<AttrValue> parse_number(std::string_view text) {
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (const auto [at, code] = std::from_chars(text.data(), end, integer); code == std::errc() && at == end)
    return integer;
  double number = 0;
  if (const auto [at, code] = std::from_chars(text.data(), end, number); code == std::errc() && at == end)
    return number;
  return std::nullopt;
}

std::optional<AttrValue> parse_list(std::string_view text) {
  std::vector<double> numbers;
  bool integers = true;
  while (!trim(text).empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto item = parse_number(trim(text.substr(0, comma)));
    if (!item) return std::nullopt;
    if (const auto* integer = std::get_if<int64_t>(&*item)) {
      numbers.push_back(static_cast<double>(*integer));
    } else {
      integers = false;
      numbers.push_back(std::get<double>(*item));
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (!integers) return numbers;
  std::vector<int64_t> values;
  for (const double number : numbers) values.push_back(static_cast<int64_t>(number));
  return values;
}

}  // namespace

std::string decimal_text(double value) { return decimal(value); }
std::string decimal_text(float value) { return decimal(value); }

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string to_text(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, int64_t>)
          return fmt::format("{}", v);
        else if constexpr (std::is_same_v<T, double>)
          return decimal_text(v);
        else if constexpr (std::is_same_v<T, bool>)
          return v ? "True" : "False";
        else if constexpr (std::is_same_v<T, std::string>)
          return quoted(v);
        else if constexpr (std::is_same_v<T, DType>)
          return std::string(dtype_name(v));
        else
          return list_text(v);
      },
      value);
}

std::optional<AttrValue> parse_attr(std::string_view text) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  if (text == "True") return true;
  if (text == "False") return false;
  if (const auto dtype = parse_dtype(text)) return *dtype;
  if (text.size() >= 2 && (text.front() == '(' || text.front() == '['))
    return parse_list(text.substr(1, text.size() - 2));
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return std::string(text.substr(1, text.size() - 2));
  return parse_number(text);
}

}  // namespace ingot::ir
