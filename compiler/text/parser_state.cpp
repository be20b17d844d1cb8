#include "compiler/text/parser_state.h"

#include <algorithm>

#include <fmt/format.h>

namespace ingot::text {
namespace {

bool is_open_string(const Token& token) { return token.kind == TokenKind::Invalid && token.text.empty(); }

}  // namespace

Parser::Parser(std::shared_ptr<const ir::Source> source, ir::Diagnostics& diagnostics, const ParseOptions& options)
    : source_(std::move(source)),
      diagnostics_(diagnostics),
      options_(options),
      tokens_(tokenize(source_, diagnostics)),
      has_open_string_(std::ranges::any_of(tokens_, is_open_string)) {}

const Token& Parser::take() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::accept(std::string_view punctuation) {
  if (!at(punctuation)) return false;
  take();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  take();
  return true;
}

void Parser::expect(std::string_view punctuation, std::string_view where) {
  if (!accept(punctuation))
    fail_here(fmt::format("expected '{}' {}, found {}", punctuation, where, peek().described()));
}

ir::Span Parser::span_of(const Token& token) const {
  return {source_, token.line, token.column, std::max(token.length, 1u), nullptr};
}

ir::Span Parser::span_from(size_t first) const {
  ir::Span span = span_of(tokens_[first]);
  if (at_ > first) {
    const Token& last = tokens_[at_ - 1];
    if (last.line == span.line) span.length = last.column + last.length - span.column;
  }
  return span;
}

void Parser::fail_here(std::string message, std::string hint) {
  // What the lexer has reported is not reported again.
  if (peek().kind == TokenKind::Invalid || follows_open_string()) throw SyntaxError{};
  fail_at(span_of(peek()), std::move(message), std::move(hint));
}

bool Parser::follows_open_string() const {
  if (!has_open_string_) return false;
  for (size_t i = at_; i-- > 0;) {
    const Token& token = tokens_[i];
    if (is_open_string(token)) return true;
    if (token.starts_line && (token.is_word("def") || token.is_word("prim_func") || token.is_word("private"))) break;
  }
  return false;
}

void Parser::fail_at(const ir::Span& span, std::string message, std::string hint, ErrorCode code) {
  report(span, std::move(message), std::move(hint), code);
  throw SyntaxError{};
}

void Parser::report(const ir::Span& span, std::string message, std::string hint, ErrorCode code, int rule) {
  if (gave_up_ || (syntax_only_ && code != ErrorCode::ParseError)) return;
  diagnostics_.error(code, span, std::move(message), std::move(hint), rule);
}

void Parser::skip_brackets() {
  size_t depth = 0;
  do {
    if (at("(")) ++depth;
    if (at(")")) --depth;
    take();
  } while (depth > 0 && peek().kind != TokenKind::End);
}

// Is a bracket closed behind the `;` at hand, before the statement there ends, that was opened in front of it?
bool Parser::is_inside_brackets() const {
  size_t brackets = 0;
  size_t braces = 0;
  for (size_t i = at_ + 1; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.is("{")) {
      ++braces;
    } else if (token.is("}")) {
      if (braces-- == 0) return false;
    } else if (braces != 0) {
      continue;
    } else if (token.is("(") || token.is("[")) {
      ++brackets;
    } else if (token.is(")") || token.is("]")) {
      if (brackets-- == 0) return true;
    } else if (token.is(";") || token.starts_line) {
      return false;
    }
  }
  return false;
}

void Parser::skip_statement(bool line_ends) {
  const size_t first = at_;
  for (size_t depth = 0; peek().kind != TokenKind::End; take()) {
    if (at("{")) {
      ++depth;
    } else if (at("}")) {
      if (depth == 0) return;
      --depth;
    } else if (depth == 0 && at(";")) {
      if (is_inside_brackets()) continue;
      take();
      return;
    } else if (at_definition() ||
               (depth == 0 && peek().starts_line && (at_word("let") || (line_ends && at_ > first)))) {
      return;
    }
  }
}

bool Parser::at_definition() const {
  return peek().starts_line && (at_word("def") || at_word("prim_func") || at_word("private") ||
                                (at_word("impure") && peek(1).is_word("def")));
}

bool Parser::skip_to_body() {
  for (; peek().kind != TokenKind::End && !at("}") && !at(";") && !at_definition(); take()) {
    if (at_word("attrs") && peek(1).is("{")) {
      while (!at("}") && peek().kind != TokenKind::End) take();
    } else if (at("{")) {
      take();
      return true;
    }
  }
  return false;
}

void Parser::skip_definition() {
  while (peek().kind != TokenKind::End && !at_definition()) take();
}

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  if (++parser_.nesting_ <= kMaxNesting) return;
  // The rest of the text is part of the same nest: there is nothing to resume at.
  const ir::Span span = parser_.span_of(parser_.peek());
  parser_.at_ = parser_.tokens_.size() - 1;
  --parser_.nesting_;
  parser_.diagnostics_.error(ErrorCode::ParseError, span,
                             fmt::format("expressions are nested deeper than {} levels", kMaxNesting / 2));
  parser_.gave_up_ = true;
  throw SyntaxError{};
}

void Parser::check_depth(const ir::ExprNode& node) {
  if (node.depth <= 2 * kMaxNesting) return;
  fail_at(node.span, fmt::format("expressions are nested deeper than {}", 2 * kMaxNesting),
          "bind parts of it with let");
}

}  // namespace ingot::text
