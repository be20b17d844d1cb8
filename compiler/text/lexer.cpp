#include "compiler/text/lexer.h"

#include <array>

#include <fmt/format.h>

namespace ingot::text {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_letter(c) || is_digit(c); }

constexpr std::array<std::string_view, 8> kPairs = {"->", "==", "!=", "<=", ">=", "&&", "||", "=>"};
constexpr std::string_view kSingles = "()[]{}<>,;:=+-*/%!.?";

class Lexer {
 public:
  Lexer(const std::shared_ptr<const ir::Source>& source, ir::Diagnostics& diagnostics)
      : source_(source), text_(source->text), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    // A byte order mark, which editors write.
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (true) {
      skip_blanks();
      begin_ = at_;
      begin_line_ = line_;
      begin_column_ = column_;
      if (at_ >= text_.size()) {
        add(TokenKind::End, "");
        return std::move(tokens_);
      }
      next();
    }
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void advance() {
    if (text_[at_] == '\n') {
      ++line_;
      column_ = 1;
      fresh_line_ = true;
    } else if ((static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80) {
      ++column_;
    }
    ++at_;
  }
  void advance(size_t count) {
    for (size_t i = 0; i < count; ++i) advance();
  }

  void error(std::string message, std::string hint = {}) {
    const uint32_t length = line_ == begin_line_ && column_ > begin_column_ ? column_ - begin_column_ : 1;
    diagnostics_.error(ErrorCode::ParseError, {source_, begin_line_, begin_column_, length, nullptr},
                       std::move(message), std::move(hint));
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        advance();
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') advance();
      } else if (c == '/' && peek(1) == '*') {
        skip_comment();
      } else if (c == '#' && peek(1) == '[') {
        skip_to_end_of("]", "an annotation that begins with #[ does not end");
      } else {
        return;
      }
    }
  }

  // Comments nest.
  void skip_comment() {
    const auto line = line_;
    const auto column = column_;
    advance(2);
    for (size_t depth = 1; depth != 0;) {
      if (at_ >= text_.size())
        return diagnostics_.error(ErrorCode::ParseError, {source_, line, column, 2, nullptr},
                                  "a comment that begins with /* does not end");
      const bool opens = peek() == '/' && peek(1) == '*';
      const bool closes = peek() == '*' && peek(1) == '/';
      if (opens) ++depth;
      if (closes) --depth;
      advance(opens || closes ? 2 : 1);
    }
  }

  void skip_to_end_of(std::string_view closing, const char* message) {
    begin_line_ = line_;
    begin_column_ = column_;
    advance(2);
    const size_t end = text_.find(closing, at_);
    if (end == std::string_view::npos) {
      const auto line = line_;
      const auto column = column_;
      diagnostics_.error(ErrorCode::ParseError, {source_, line, column - 2, 2, nullptr}, message);
      advance(text_.size() - at_);
    } else {
      advance(end + closing.size() - at_);
    }
  }

  void add(TokenKind kind, std::string text, std::string_view suffix = {}) {
    const uint32_t length = line_ == begin_line_ ? column_ - begin_column_ : 1;
    tokens_.push_back({kind, std::move(text), suffix, begin_, begin_line_, begin_column_, length, fresh_line_});
    fresh_line_ = false;
  }

  void next() {
    const char c = peek();
    if (is_letter(c)) return identifier();
    if (is_digit(c)) return number();
    if (c == '"') {
      std::string text;
      if (string(text)) add(TokenKind::String, std::move(text));
      return;
    }
    if ((c == '%' || c == '@') && (is_name_char(peek(1)) || peek(1) == '"')) return variable(c);
    for (const std::string_view pair : kPairs)
      if (text_.substr(at_, 2) == pair) {
        advance(2);
        return add(TokenKind::Punctuation, std::string(pair));
      }
    const bool known = kSingles.find(c) != std::string_view::npos;
    size_t bytes = 1;
    while (at_ + bytes < text_.size() && (static_cast<unsigned char>(text_[at_ + bytes]) & 0xC0) == 0x80) ++bytes;
    const std::string text(text_.substr(at_, bytes));
    advance(bytes);
    if (known) return add(TokenKind::Punctuation, text);
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      error(fmt::format("the character 0x{:02x} is not part of the language", static_cast<unsigned>(c)));
    else
      error(fmt::format("'{}' is not part of the language", text));
    add(TokenKind::Invalid, text);
  }

  void identifier() {
    const size_t begin = at_;
    while (true) {
      while (is_name_char(peek())) advance();
      if (peek() != '.' || !is_letter(peek(1))) break;
      advance();
    }
    const std::string_view text = text_.substr(begin, at_ - begin);
    // The infinity of float32, as TVM prints it.
    const bool infinity = text == "inff";
    add(TokenKind::Identifier, std::string(infinity ? text.substr(0, 3) : text),
        text.substr(infinity ? 3 : text.size()));
  }

  void variable(char sigil) {
    advance();
    const TokenKind kind = sigil == '%' ? TokenKind::Local : TokenKind::Global;
    if (peek() == '"') {
      std::string text;
      if (string(text)) add(kind, std::move(text));
      return;
    }
    const size_t begin = at_;
    while (is_name_char(peek()) || (peek() == '.' && is_letter(peek(1)))) advance();
    add(kind, std::string(text_.substr(begin, at_ - begin)));
  }

  void number() {
    const size_t begin = at_;
    const bool projection = !tokens_.empty() && tokens_.back().is(".");
    bool decimal = false;
    while (is_digit(peek())) advance();
    if (!projection) {
      if (peek() == '.' && (is_digit(peek(1)) || !is_letter(peek(1)))) {
        decimal = true;
        advance();
        while (is_digit(peek())) advance();
      }
      const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
        decimal = true;
        advance(2 + sign);
        while (is_digit(peek())) advance();
      }
    }
    const size_t end = at_;
    while (is_name_char(peek())) advance();
    add(decimal ? TokenKind::Decimal : TokenKind::Integer, std::string(text_.substr(begin, end - begin)),
        text_.substr(end, at_ - end));
  }

  // From the opening quote to behind the closing one; false after an error, with an Invalid token in place.
  bool string(std::string& out) {
    advance();
    while (true) {
      if (at_ >= text_.size() || peek() == '\n') {
        error("a string does not end on its line");
        add(TokenKind::Invalid, "");
        return false;
      }
      const char c = peek();
      advance();
      if (c == '"') return true;
      if (c != '\\') {
        out += c;
        continue;
      }
      escape(out);
    }
  }

  void escape(std::string& out) {
    const char c = peek();
    if (at_ < text_.size() && c != '\n') advance();
    switch (c) {
      case '"':
      case '\\':
        out += c;
        return;
      case 'n':
        out += '\n';
        return;
      case 't':
        out += '\t';
        return;
      case 'r':
        out += '\r';
        return;
      case 'x': {
        const auto digit = [](char d) {
          if (is_digit(d)) return d - '0';
          if (d >= 'a' && d <= 'f') return d - 'a' + 10;
          return d >= 'A' && d <= 'F' ? d - 'A' + 10 : -1;
        };
        const int high = digit(peek());
        const int low = high < 0 ? -1 : digit(peek(1));
        if (low >= 0) {
          advance(2);
          out += static_cast<char>(high * 16 + low);
          return;
        }
        break;
      }
      default:
        break;
    }
    error("a backslash in a string must begin \\\", \\\\, \\n, \\t, \\r or \\xNN");
  }

  const std::shared_ptr<const ir::Source>& source_;
  std::string_view text_;
  ir::Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  size_t at_ = 0, begin_ = 0;
  uint32_t line_ = 1, column_ = 1, begin_line_ = 1, begin_column_ = 1;
  bool fresh_line_ = true;
};

}  // namespace

std::string Token::described() const {
  switch (kind) {
    case TokenKind::End:
      return "the end of the text";
    case TokenKind::Local:
      return "'%" + text + "'";
    case TokenKind::Global:
      return "'@" + text + "'";
    case TokenKind::String:
      return "a string";
    default:
      return fmt::format("'{}{}'", text, suffix);
  }
}

std::vector<Token> tokenize(const std::shared_ptr<const ir::Source>& source, ir::Diagnostics& diagnostics) {
  return Lexer(source, diagnostics).run();
}

bool is_plain_name(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name)
    if (!is_name_char(c)) return false;
  return true;
}

}  // namespace ingot::text
