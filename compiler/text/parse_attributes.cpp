#include <charconv>

#include <fmt/format.h>

#include "compiler/ir/attrs.h"
#include "compiler/text/literal.h"
#include "compiler/text/parser_state.h"

namespace ingot::text {

// A literal behind `name=`; nested lists are flattened. Nullopt, and nothing taken, where something else stands there.
std::optional<ir::AttrValue> Parser::attribute_value() {
  const size_t first = at_;
  const auto back = [&]() -> std::optional<ir::AttrValue> {
    at_ = first;
    return std::nullopt;
  };
  if (peek().kind == TokenKind::String) return take().text;
  if (accept_word("True") || accept_word("true")) return true;
  if (accept_word("False") || accept_word("false")) return false;
  if (at_word("dtype") && peek(1).is("(")) {
    take();
    take();
    const auto dtype = dtype_name_here();
    if (!dtype) return back();
    take();
    return accept(")") ? std::optional<ir::AttrValue>(*dtype) : back();
  }
  if (const auto dtype = dtype_name_here(); dtype && !peek(1).is("(")) {
    take();
    return *dtype;
  }
  if (at("(") || at("[")) {
    const Nesting nesting(*this);
    const std::string_view closing = at("(") ? ")" : "]";
    take();
    std::vector<int64_t> integers;
    std::vector<double> numbers;
    while (!at(closing)) {
      const auto item = attribute_value();
      if (!item) return back();
      if (const auto* integer = std::get_if<int64_t>(&*item)) {
        integers.push_back(*integer);
        numbers.push_back(static_cast<double>(*integer));
      } else if (const auto* number = std::get_if<double>(&*item)) {
        numbers.push_back(*number);
      } else if (const auto* nested = std::get_if<std::vector<int64_t>>(&*item)) {
        integers.insert(integers.end(), nested->begin(), nested->end());
        for (const int64_t value : *nested) numbers.push_back(static_cast<double>(value));
      } else {
        return back();
      }
      if (!accept(",")) break;
    }
    if (!accept(closing)) return back();
    if (integers.size() == numbers.size()) return integers;
    return numbers;
  }
  const bool negative = accept("-");
  if (peek().kind == TokenKind::Integer) {
    const Token token = take();
    const std::string text = (negative ? "-" : "") + token.text;
    int64_t value = 0;
    const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto dtype = literal_dtype(token.suffix);
    if (code != std::errc()) fail_at(span_of(token), fmt::format("{} does not fit into an int64", text));
    if (dtype && is_float(*dtype)) return static_cast<double>(value);
    if (!token.suffix.empty() && !dtype) return back();
    return value;
  }
  const bool infinite = at_word("inf");
  if (peek().kind == TokenKind::Decimal || infinite || at_word("nan")) {
    const Token token = take();
    double value = std::numeric_limits<double>::quiet_NaN();
    if (token.kind == TokenKind::Decimal)
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    else if (infinite)
      value = std::numeric_limits<double>::infinity();
    return negative ? -value : value;
  }
  return back();
}

ir::Attrs Parser::attribute_block() {
  ir::Attrs attrs;
  expect("{", "before attributes");
  while (!at("}")) {
    attribute(attrs);
    if (!accept(",")) break;
  }
  expect("}", "after attributes");
  return attrs;
}

void Parser::attribute(ir::Attrs& into) {
  if (peek().kind != TokenKind::Identifier && peek().kind != TokenKind::String)
    fail_here(fmt::format("expected the name of an attribute, found {}", peek().described()));
  const Token name = take();
  expect("=", "behind the name of an attribute");
  auto value = attribute_value();
  if (!value) fail_here(fmt::format("attribute {} must be a literal, found {}", name.text, peek().described()));
  into[name.text] = std::move(*value);
}

}  // namespace ingot::text
