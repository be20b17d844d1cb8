#include "vm/executable/text_scanner.h"

#include <algorithm>
#include <charconv>

namespace ingot::vm {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

}  // namespace

void TextScanner::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
      ++at_;
    else if (text_.substr(at_, 2) == "//")
      at_ = std::min(text_.find('\n', at_), text_.size());
    else
      break;
  }
}

void TextScanner::move_to(size_t offset) {
  at_ = offset;
  skip();
}

size_t TextScanner::word_end(size_t from) const {
  while (from < text_.size() && is_word(text_[from])) ++from;
  return from;
}

bool TextScanner::comes(std::string_view mark) const {
  if (!text_.substr(at_).starts_with(mark)) return false;
  return !is_word(mark.back()) || word_end(at_) == at_ + mark.size();
}

bool TextScanner::accept(std::string_view mark) {
  if (!comes(mark)) return false;
  move_to(at_ + mark.size());
  return true;
}

void TextScanner::expect(std::string_view mark) {
  if (!accept(mark)) fail_here(fmt::format("'{}' is expected here", mark));
}

std::optional<std::string_view> TextScanner::try_word() {
  if (done() || !is_letter(text_[at_])) return std::nullopt;
  const size_t end = word_end(at_);
  const std::string_view found = text_.substr(at_, end - at_);
  move_to(end);
  return found;
}

std::string_view TextScanner::word(std::string_view what) {
  const auto found = try_word();
  if (!found) fail_here(fmt::format("{} is expected here", what));
  return *found;
}

std::string TextScanner::string() {
  if (!at_string()) fail_here("a string is expected here");
  const size_t start = at_;
  std::string value;
  size_t i = at_ + 1;
  for (; i < text_.size() && text_[i] != '"'; ++i) {
    if (text_[i] != '\\') {
      value += text_[i];
      continue;
    }
    const char escape = ++i < text_.size() ? text_[i] : '\0';
    if (escape == 'n') {
      value += '\n';
    } else if (escape == 't') {
      value += '\t';
    } else if (escape == '\\' || escape == '"') {
      value += escape;
    } else if (escape == 'x') {
      unsigned code = 0;
      const std::string_view digits = text_.substr(std::min(i + 1, text_.size()), 2);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      if (error != std::errc{} || end != digits.data() + 2) fail_at(i, "two hexadecimal digits are expected here");
      value += static_cast<char>(code);
      i += 2;
    } else {
      fail_at(i, "this escape does not exist");
    }
  }
  if (i >= text_.size()) fail_at(start, "the string has no end");
  move_to(i + 1);
  return value;
}

std::string_view TextScanner::number() {
  size_t end = at_;
  if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) ++end;
  while (end < text_.size() && (is_word(text_[end]) || ((text_[end] == '-' || text_[end] == '+') && end > at_ &&
                                                        (text_[end - 1] == 'e' || text_[end - 1] == 'E'))))
    ++end;
  const std::string_view found = text_.substr(at_, end - at_);
  if (found.empty() || found == "-" || found == "+") fail_here("a number is expected here");
  move_to(end);
  return found;
}

int64_t TextScanner::integer() {
  const size_t start = at_;
  const std::string_view text = number();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) fail_at(start, "this is no integer of 64 bits");
  return value;
}

uint32_t TextScanner::count(uint32_t greatest) {
  const size_t start = at_;
  const int64_t value = integer();
  if (value < 0 || value > greatest) fail_at(start, fmt::format("{} is not from 0 to {}", value, greatest));
  return static_cast<uint32_t>(value);
}

uint64_t TextScanner::hex() {
  const size_t start = at_;
  const std::string_view text = number();
  uint64_t value = 0;
  const bool prefixed = text.starts_with("0x");
  const auto [end, error] = std::from_chars(text.data() + (prefixed ? 2 : 0), text.data() + text.size(), value, 16);
  if (!prefixed || error != std::errc{} || end != text.data() + text.size())
    fail_at(start, "a number like 0x1f is expected here");
  return value;
}

std::string TextScanner::place(size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("{}:{}", line, offset - line_start + 1);
}

void TextScanner::fail_at(size_t offset, std::string_view message) const {
  fail(ErrorCode::ParseError, "{}: {}", place(offset), message);
}

}  // namespace ingot::vm
