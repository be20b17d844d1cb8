#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/error.h"

namespace ingot::vm {

// Takes program text apart, one token ahead. Blanks, line ends and comments (from // to the end of the line) separate
// tokens. Every error is a ParseError whose message begins with "line:column: ".
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) { skip(); }

  bool done() const { return at_ == text_.size(); }
  size_t offset() const { return at_; }
  // Goes on behind what somebody else has read.
  void move_to(size_t offset);

  // Consumes `mark` (punctuation or a whole word) if it comes next.
  bool accept(std::string_view mark);
  bool comes(std::string_view mark) const;
  void expect(std::string_view mark);

  // Letters, digits, `_` and `.`, not beginning with a digit.
  std::string_view word(std::string_view what);
  std::optional<std::string_view> try_word();
  // Between double quotes, with the escapes of runtime/tensor/element_text.h.
  std::string string();
  bool at_string() const { return at_ < text_.size() && text_[at_] == '"'; }
  // A number as it is spelled, sign included; also inf and nan.
  std::string_view number();
  int64_t integer();
  // An integer from 0 to `greatest`.
  uint32_t count(uint32_t greatest = UINT32_MAX);
  uint64_t hex();

  [[noreturn]] void fail_here(std::string_view message) const { fail_at(at_, message); }
  [[noreturn]] void fail_at(size_t offset, std::string_view message) const;
  // "line:column"
  std::string place(size_t offset) const;

 private:
  void skip();
  size_t word_end(size_t from) const;

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace ingot::vm
