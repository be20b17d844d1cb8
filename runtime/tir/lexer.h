#pragma once
#include <string>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/tir/literals.h"

namespace ingot::tir {

enum class TokenKind : uint8_t { End, Word, Number, Text, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  size_t offset = 0;
  std::string_view text;       // Word, Symbol: as written; Text: without the quotes, escapes as written
  NumberText number;           // Number
  DType suffix = DType::None;  // Number
};

// Splits the text form of PrimFuncs into words, numbers, quoted texts and symbols; skips blanks and `//` comments.
class Lexer {
 public:
  Lexer(std::string_view text, size_t offset) : text_(text), next_(offset) { advance(); }

  const Token& peek() const { return token_; }
  bool at(std::string_view text) const {
    return (token_.kind == TokenKind::Word || token_.kind == TokenKind::Symbol) && token_.text == text;
  }
  Token take();
  bool accept(std::string_view text);
  Token expect(std::string_view text);
  std::string_view expect_word(std::string_view what);
  // Goes back to a token that was peeked at.
  void rewind(size_t offset);
  // Behind the last token taken.
  size_t end_of_last() const { return end_of_last_; }

  // Throws an Error with "line:column: " of `offset` in front.
  template <typename... Args>
  [[noreturn]] void report(ErrorCode code, size_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(code, place(offset) + ": " + fmt::format(format, std::forward<Args>(args)...));
  }
  // "line:column", both from 1.
  std::string place(size_t offset) const;

 private:
  void advance();
  void skip_blanks();
  void number();
  std::string describe() const;

  std::string_view text_;
  size_t next_ = 0;
  size_t end_of_last_ = 0;
  Token token_;
};

}  // namespace ingot::tir
