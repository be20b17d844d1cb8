#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/diagnostics.h"

namespace ingot::text {

enum class TokenKind : uint8_t {
  End,
  Identifier,  // letters, digits, `_`; parts joined by dots that letters follow: nn.conv2d
  Local,       // %name, %1, %"any text"
  Global,      // @name, @"any text"
  Integer,
  Decimal,
  String,
  Punctuation,
  Invalid,  // was reported; without text: a string that does not end
};

struct Token {
  TokenKind kind = TokenKind::End;
  // Identifier, Punctuation, numbers without suffix: as written. Local, Global, String: without sigil, quotes, escapes.
  std::string text;
  std::string_view suffix;  // of numbers: "f32"; empty where there is none
  size_t offset = 0;        // in the source, in bytes
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 0;       // in code points
  bool starts_line = false;  // nothing but white space and comments before it on its line

  bool is(std::string_view punctuation) const { return kind == TokenKind::Punctuation && text == punctuation; }
  bool is_word(std::string_view word) const { return kind == TokenKind::Identifier && text == word; }
  // As messages name it: `';'`, "the end of the text".
  std::string described() const;
};

// Splits a text; the last token is End. `%` directly before a letter, digit, `_` or quote begins a variable. After `.`
// a number is digits only, so `%t.1.1` has two projections. Comments are `// ...`, `/* ... */` and `#[...]`. What is no
// token is a ParseError in `diagnostics` and an Invalid token.
std::vector<Token> tokenize(const std::shared_ptr<const ir::Source>& source, ir::Diagnostics& diagnostics);

// May the name stand behind a sigil without quotes?
bool is_plain_name(std::string_view name);

}  // namespace ingot::text
