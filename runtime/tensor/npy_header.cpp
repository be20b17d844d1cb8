#include "runtime/tensor/npy_header.h"

#include <charconv>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace ingot {
namespace {

class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  NpyHeader parse() {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<int64_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = parse_string();
      expect(':');
      if (key == "descr" && !descr) {
        if (peek() == '[') fail(ErrorCode::Unsupported, "{}: records have no dtype here", what_);
        descr = parse_string();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = parse_bool();
      } else if (key == "shape" && !shape) {
        shape = parse_shape();
      } else {
        refuse(fmt::format("key '{}' is unknown or comes twice", key));
      }
      if (!accept(',') && peek() != '}') refuse("',' or '}' is missing");
    }
    skip_blanks();
    if (at_ != text_.size()) refuse("something follows the dictionary");
    if (!descr || !fortran_order || !shape) refuse("one of 'descr', 'fortran_order', 'shape' is missing");
    return {std::move(*descr), *fortran_order, std::move(*shape)};
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    fail(ErrorCode::CorruptFile, "{}: character {} of the header: {}", what_, at_, reason);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("'{}' is missing", c));
  }
  std::string parse_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse("a string is missing");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("the string has no end");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  bool parse_bool() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    refuse("True or False is missing");
  }
  std::vector<int64_t> parse_shape() {
    std::vector<int64_t> shape;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      int64_t dim = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0) refuse("a dimension is missing, negative or too large");
      if (shape.size() == kMaxRank) refuse(fmt::format("more than {} dimensions", kMaxRank));
      shape.push_back(dim);
      at_ = static_cast<size_t>(end - text_.data());
      accept('L');  // as Python 2 wrote integers
      if (!accept(',') && peek() != ')') refuse("',' or ')' is missing");
    }
    return shape;
  }

  std::string_view text_;
  std::string_view what_;
  size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, std::string_view what) { return HeaderParser(text, what).parse(); }

std::string format_npy_header(const NpyHeader& header) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", header.descr,
                     header.fortran_order ? "True" : "False", shape_text(header.shape));
}

}  // namespace ingot
