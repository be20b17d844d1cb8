#include "runtime/tir/lexer.h"

#include <algorithm>
#include <utility>

#include "runtime/tir/words.h"

namespace ingot::tir {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string Lexer::place(size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t start = before.rfind('\n');
  const size_t column = start == std::string_view::npos ? offset + 1 : offset - start;
  return fmt::format("{}:{}", line, column);
}

std::string Lexer::describe() const {
  return token_.kind == TokenKind::End ? "the end of the text"
                                       : fmt::format("'{}'", text_.substr(token_.offset, next_ - token_.offset));
}

Token Lexer::take() {
  const Token token = token_;
  end_of_last_ = next_;
  advance();
  return token;
}

bool Lexer::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

Token Lexer::expect(std::string_view text) {
  if (!at(text)) report(ErrorCode::ParseError, token_.offset, "expected '{}', found {}", text, describe());
  return take();
}

std::string_view Lexer::expect_word(std::string_view what) {
  if (token_.kind != TokenKind::Word)
    report(ErrorCode::ParseError, token_.offset, "expected {}, found {}", what, describe());
  return take().text;
}

void Lexer::rewind(size_t offset) {
  next_ = offset;
  advance();
}

void Lexer::skip_blanks() {
  while (next_ < text_.size()) {
    const char c = text_[next_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++next_;
    } else if (text_.substr(next_, 2) == "//") {
      next_ = std::min(text_.find('\n', next_), text_.size());
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  token_ = Token{};
  token_.offset = next_;
  if (next_ >= text_.size()) return;
  const char c = text_[next_];
  if (is_identifier_start(c)) {
    token_.kind = TokenKind::Word;
    while (next_ < text_.size() && is_identifier_part(text_[next_])) ++next_;
    token_.text = text_.substr(token_.offset, next_ - token_.offset);
  } else if (is_digit(c)) {
    number();
  } else if (c == '"') {
    token_.kind = TokenKind::Text;
    for (++next_; next_ < text_.size() && text_[next_] != '"'; ++next_)
      if (text_[next_] == '\\') ++next_;
    if (next_ >= text_.size()) report(ErrorCode::ParseError, token_.offset, "the quoted text does not end");
    token_.text = text_.substr(token_.offset + 1, next_ - token_.offset - 1);
    ++next_;
  } else {
    constexpr std::string_view kPairs[] = {"==", "!=", "<=", ">=", "&&", "||"};
    token_.kind = TokenKind::Symbol;
    const std::string_view two = text_.substr(next_, 2);
    next_ += std::ranges::find(kPairs, two) != std::end(kPairs) ? 2 : 1;
    token_.text = text_.substr(token_.offset, next_ - token_.offset);
  }
}

void Lexer::number() {
  token_.kind = TokenKind::Number;
  const auto digits = [&] {
    while (next_ < text_.size() && is_digit(text_[next_])) ++next_;
  };
  const auto peek = [&](size_t ahead) { return next_ + ahead < text_.size() ? text_[next_ + ahead] : '\0'; };
  if (text_.substr(next_, 2) == "0x") {
    for (next_ += 2; next_ < text_.size() && is_identifier_part(text_[next_]);) ++next_;
    token_.number.digits = text_.substr(token_.offset, next_ - token_.offset);
    return;
  }
  digits();
  if (peek(0) == '.') {
    token_.number.is_float = true;
    ++next_;
    digits();
  }
  const bool has_exponent = (peek(0) == 'e' || peek(0) == 'E') &&
                            (is_digit(peek(1)) || ((peek(1) == '-' || peek(1) == '+') && is_digit(peek(2))));
  if (has_exponent) {
    token_.number.is_float = true;
    next_ += 2;
    digits();
  }
  token_.number.digits = text_.substr(token_.offset, next_ - token_.offset);
  const size_t suffix = next_;
  while (next_ < text_.size() && is_identifier_part(text_[next_])) ++next_;
  if (next_ == suffix) return;
  const std::string_view text = text_.substr(suffix, next_ - suffix);
  const auto dtype = literal_suffix(text);
  if (!dtype)
    report(ErrorCode::ParseError, suffix,
           "'{}' is no suffix of a number; there are f, f16, bf16, f32, f64, i8 to i64 "
           "and u8 to u64",
           text);
  token_.suffix = *dtype;
}

}  // namespace ingot::tir
