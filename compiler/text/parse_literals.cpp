#include <charconv>

#include <fmt/format.h>

#include "compiler/text/literal.h"
#include "compiler/text/parser_state.h"
#include "runtime/base/convert.h"
#include "runtime/object/objects.h"

namespace ingot::text {

// From the number, or from its `-`.
ir::Expr Parser::number(bool negative, size_t first) {
  const Token token = take();
  const ir::Span span = span_from(first);
  const bool decimal = token.kind != TokenKind::Integer;
  if (token.suffix.empty()) {
    for (const DType dtype : {decimal ? DType::Float64 : DType::Int64, DType::UInt64})
      if (auto data = parse_literal(token.text, negative, dtype))
        return make<ir::Constant>(std::move(data), true, span);
    report(span,
           fmt::format("{}{} is out of range for {}", negative ? "-" : "", token.text,
                       decimal ? "float64" : "every integer dtype"),
           {}, ErrorCode::TypeError);
    return missing(span);
  }
  const auto dtype = literal_dtype(token.suffix);
  if (!dtype)
    fail_at(span, fmt::format("{} is not a suffix of literals", token.suffix),
            "suffixes are i, f, f16, bf16, f32, f64, i8 to i64 and u8 to u64");
  auto data = parse_literal(token.text, negative, *dtype);
  if (!data) {
    report(span, fmt::format("{}{} is out of range for {}", negative ? "-" : "", token.text, dtype_name(*dtype)), {},
           ErrorCode::TypeError);
    return missing(span);
  }
  return make<ir::Constant>(std::move(data), false, span);
}

namespace {

// The shape of nested lists, one bracket or element at a time.
class ListShape {
 public:
  void open() {
    counts_.push_back(0);
    if (dims_.size() >= counts_.size()) return;
    regular_ = regular_ && !has_elements_;
    dims_.push_back(-1);
  }
  void element() {
    has_elements_ = true;
    regular_ = regular_ && counts_.size() == dims_.size();
    if (!counts_.empty()) ++counts_.back();
  }
  void close() {
    int64_t& dim = dims_[counts_.size() - 1];
    regular_ = regular_ && (dim == -1 || dim == counts_.back());
    dim = counts_.back();
    counts_.pop_back();
    if (!counts_.empty()) ++counts_.back();
  }
  bool regular() const { return regular_; }
  const std::vector<int64_t>& dims() const { return dims_; }

 private:
  std::vector<int64_t> dims_, counts_;
  bool regular_ = true;
  bool has_elements_ = false;
};

struct Element {
  const Token* token;
  bool negative;

  std::string text() const { return fmt::format("{}{}{}", negative ? "-" : "", token->text, token->suffix); }
  bool is_bool() const { return token->is_word("True") || token->is_word("False"); }
};

// What an element without a suffix is where no dtype is given.
DType default_dtype(const Element& element) {
  if (element.token->kind == TokenKind::String) return DType::String;
  if (element.is_bool()) return DType::Bool;
  if (element.token->kind != TokenKind::Integer) return DType::Float32;
  return parse_literal(element.token->text, element.negative, DType::Int32) ? DType::Int32 : DType::Int64;
}

// Writes a number or truth value. False: it is none of the dtype.
bool store_element(const Element& element, DType dtype, std::byte* to) {
  const Token& token = *element.token;
  if (token.kind == TokenKind::String) return false;
  if (!token.suffix.empty() && literal_dtype(token.suffix) != dtype) return false;
  const std::string_view text = element.is_bool() ? (token.text == "True" ? "1" : "0") : std::string_view(token.text);
  return store_literal(text, element.negative, dtype, to);
}

}  // namespace

// Constant(value or nested lists, shape, dtype), Constant(value or nested lists) or Constant(file("name")).
ir::Expr Parser::constant(size_t first) {
  take();
  take();
  const LineMode lines(*this, false);
  if (at_word("file") && peek(1).is("(")) {
    take();
    take();
    if (peek().kind != TokenKind::String) fail_here("file(...) needs a name as a string, as in file(\"w.npz:name\")");
    const std::string name = take().text;
    expect(")", "after the name of the file");
    expect(")", "to close 'Constant('");
    const ir::Span span = span_from(first);
    if (!options_.load_constant) fail_at(span, "constants in files cannot be read here", {}, ErrorCode::Unsupported);
    try {
      return make<ir::Constant>(options_.load_constant(name), false, span);
    } catch (const Error& error) {
      fail_at(span, error.what(), {}, error.code());
    }
  }
  std::vector<Element> elements;
  ListShape lists;
  uint32_t depth = 0;
  const auto close = [&] {
    while (depth > 0 && accept("]")) {
      --depth;
      lists.close();
    }
  };
  do {
    while (accept("[")) {
      ++depth;
      lists.open();
    }
    if (depth > 0 && at("]")) {
      close();
      continue;
    }
    const bool negative = accept("-");
    const Token& token = peek();
    const bool word = token.is_word("True") || token.is_word("False") || token.is_word("inf") || token.is_word("nan");
    if (token.kind != TokenKind::Integer && token.kind != TokenKind::Decimal && token.kind != TokenKind::String &&
        !word)
      fail_here(fmt::format("expected a number, True, False or a string, found {}", token.described()));
    elements.push_back({&token, negative});
    lists.element();
    take();
    close();
  } while (depth > 0 && accept(","));
  if (depth > 0) fail_here(fmt::format("expected ']' after the elements of a constant, found {}", peek().described()));
  if (!lists.regular())
    fail_at(span_from(first), "the lists of a constant differ in length", {}, ErrorCode::ShapeMismatch);
  std::vector<int64_t> shape = lists.dims();
  std::optional<DType> dtype;
  if (at(")")) {
    for (const Element& element : elements)
      if (!element.token->suffix.empty()) dtype = literal_dtype(element.token->suffix);
    const bool suffixed = dtype.has_value();
    for (const Element& element : elements) {
      if (suffixed) break;
      const DType one = default_dtype(element);
      const bool wider = one == DType::Float32 ? dtype == DType::Int32 || dtype == DType::Int64
                                               : one == DType::Int64 && dtype == DType::Int32;
      if (!dtype || wider) dtype = one;
    }
    if (!dtype) fail_here("a constant without elements needs a shape and a dtype");
  } else {
    expect(",", "behind the elements of a constant");
    expect("(", "before the shape of a constant");
    shape.clear();
    for (const PrimExpr& dim : dims()) {
      const auto value = dim.as_const();
      if (!value || *value < 0)
        fail_at(span_from(first), "the dimensions of a constant must be known and not negative");
      shape.push_back(*value);
    }
    expect(",", "behind the shape of a constant");
    dtype = at_word("string") ? DType::String : dtype_name_here();
    if (!dtype) fail_here(fmt::format("expected a dtype, found {}", peek().described()));
    take();
  }
  expect(")", "to close 'Constant('");
  const ir::Span span = span_from(first);
  if (lists.dims().size() > 1 && elements.size() > 1 && lists.dims() != shape)
    fail_at(span,
            fmt::format("the lists of a constant have the shape {}, its shape is {}", shape_text(lists.dims()),
                        shape_text(shape)),
            {}, ErrorCode::ShapeMismatch);
  try {
    const size_t count = element_count(shape);
    if (elements.size() != count && elements.size() != 1)
      fail_at(span,
              fmt::format("a constant of shape {} has {} elements, {} are listed", shape_text(shape), count,
                          elements.size()),
              {}, ErrorCode::ShapeMismatch);
    auto data = make_tensor(nullptr, *dtype, shape);
    const size_t bytes = dtype_bytes(*dtype);
    for (size_t i = 0; i < count; ++i) {
      if (i != 0 && elements.size() == 1 && *dtype != DType::String) {
        std::memcpy(data->data + i * bytes, data->data, bytes);
        continue;
      }
      const Element& element = elements[elements.size() == 1 ? 0 : i];
      const Token& token = *element.token;
      if (*dtype == DType::String) {
        if (token.kind != TokenKind::String) fail_at(span_of(token), "a constant of dtype string lists strings");
        data->elements<StringObject*>()[i] = make_string(nullptr, token.text).detach();
        continue;
      }
      if (!store_element(element, *dtype, data->data + i * bytes))
        fail_at(span_of(token), fmt::format("{} is not an element of dtype {}", element.text(), dtype_name(*dtype)), {},
                ErrorCode::TypeError);
    }
    return make<ir::Constant>(std::move(data), false, span);
  } catch (const Error& error) {
    fail_at(span, error.what(), {}, error.code());
  }
}

// prim(n + 1), prim(0.5), prim(True)
ir::Expr Parser::prim_value(size_t first) {
  take();
  take();
  const LineMode lines(*this, false);
  std::variant<PrimExpr, double, bool> value;
  const bool negative = at("-") && (peek(1).kind == TokenKind::Decimal || peek(1).is_word("inf"));
  const Token& number = peek(negative ? 1 : 0);
  if (accept_word("True")) {
    value = true;
  } else if (accept_word("False")) {
    value = false;
  } else if (number.kind == TokenKind::Decimal || number.is_word("inf") || number.is_word("nan")) {
    const auto data = parse_literal(number.text, negative, DType::Float64);
    if (!data) fail_here(fmt::format("{} is out of range for float64", number.text));
    value = load_element<double>(data->data);
    if (negative) take();
    take();
  } else {
    value = prim_expr();
  }
  expect(")", "after the value of prim");
  return make<ir::PrimValue>(std::move(value), span_from(first));
}

}  // namespace ingot::text
