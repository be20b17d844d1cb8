#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "compiler/text/parser_state.h"

namespace ingot::text {
namespace {

int precedence_of(const Token& token) {
  if (token.kind != TokenKind::Punctuation) return 0;
  const std::string& t = token.text;
  if (t == "||") return 1;
  if (t == "&&") return 2;
  if (t == "==" || t == "!=") return 3;
  if (t == "<" || t == "<=" || t == ">" || t == ">=") return 4;
  if (t == "+" || t == "-") return 5;
  if (t == "*" || t == "/" || t == "%") return 6;
  return 0;
}

PrimExpr combine(const std::string& op, const PrimExpr& a, const PrimExpr& b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return floor_div(a, b);
  if (op == "%") return floor_mod(a, b);
  if (op == "==") return PrimExpr::make(PrimOp::Equal, {a, b});
  if (op == "!=") return PrimExpr::make(PrimOp::NotEqual, {a, b});
  if (op == "<") return PrimExpr::make(PrimOp::Less, {a, b});
  if (op == "<=") return PrimExpr::make(PrimOp::LessEqual, {a, b});
  if (op == ">") return PrimExpr::make(PrimOp::Less, {b, a});
  if (op == ">=") return PrimExpr::make(PrimOp::LessEqual, {b, a});
  return PrimExpr::make(op == "&&" ? PrimOp::And : PrimOp::Or, {a, b});
}

}  // namespace

// `?` binds a variable without a name in parameters and casts; elsewhere it says nothing of the dimension.
PrimExpr Parser::unknown_dim() {
  const SymVar var = make_sym_var("d");
  unknown_dims_.insert(var);
  return PrimExpr(var);
}

std::vector<PrimExpr> Parser::dims() {
  std::vector<PrimExpr> values;
  while (!at(")")) {
    values.push_back(accept("?") ? unknown_dim() : prim_expr());
    if (!accept(",")) break;
  }
  expect(")", "after the dimensions");
  return values;
}

PrimExpr Parser::prim_expr(int least) {
  const Nesting nesting(*this);
  PrimExpr left = prim_unary();
  while (true) {
    if (peek().kind == TokenKind::Local)
      fail_here(fmt::format("unexpected {} in a dimension", peek().described()), "write a space behind a modulo '%'");
    const int precedence = precedence_of(peek());
    if (precedence == 0 || precedence < std::max(least, 1) || ends_graph_binding()) return left;
    const Token op = take();
    const PrimExpr right = prim_expr(precedence + 1);
    try {
      left = combine(op.text, left, right);
    } catch (const Error& error) {
      fail_at(span_of(op), error.what(), {}, error.code());
    }
  }
}

PrimExpr Parser::prim_unary() {
  if (accept("-")) {
    const Nesting nesting(*this);
    return PrimExpr(0) - prim_unary();
  }
  if (accept("!")) {
    const Nesting nesting(*this);
    return PrimExpr::make(PrimOp::Not, {prim_unary()});
  }
  return prim_primary();
}

PrimExpr Parser::prim_primary() {
  const Token token = peek();
  if (accept("(")) {
    const LineMode lines(*this, false);
    PrimExpr inner = prim_expr();
    expect(")", "to close '('");
    return inner;
  }
  if (token.kind == TokenKind::Integer) {
    take();
    int64_t value = 0;
    const char* end = token.text.data() + token.text.size();
    const auto [at, code] = std::from_chars(token.text.data(), end, value);
    if (code != std::errc() || at != end || !(token.suffix.empty() || token.suffix == "i64"))
      fail_at(span_of(token), fmt::format("{} is not an int64", token.described()));
    return value;
  }
  if (token.kind != TokenKind::Identifier) fail_here(fmt::format("expected a dimension, found {}", token.described()));
  take();
  const bool call = at("(");
  const auto operands = [&](PrimOp op) {
    take();
    const LineMode lines(*this, false);
    std::vector<PrimExpr> values;
    while (!at(")")) {
      values.push_back(prim_expr());
      if (!accept(",")) break;
    }
    expect(")", "after the operands");
    if (values.size() != operand_count(op))
      fail_at(span_of(token),
              fmt::format("{} needs {} operands, has {}", token.text, operand_count(op), values.size()));
    if (op == PrimOp::Min) return min(values[0], values[1]);
    if (op == PrimOp::Max) return max(values[0], values[1]);
    if (op == PrimOp::FloorDiv) return floor_div(values[0], values[1]);
    if (op == PrimOp::FloorMod) return floor_mod(values[0], values[1]);
    return PrimExpr::make(op, std::move(values));
  };
  if (call && token.text == "min") return operands(PrimOp::Min);
  if (call && token.text == "max") return operands(PrimOp::Max);
  if (call && token.text == "select") return operands(PrimOp::Select);
  if (call && token.text == "floordiv") return operands(PrimOp::FloorDiv);
  if (call && token.text == "floormod") return operands(PrimOp::FloorMod);
  if (call)
    fail_at(span_of(token), fmt::format("{} is not an operation on dimensions", token.text),
            "there are + - * / % min max select floordiv floormod and comparisons");
  const SymEntry* known = sym_vars_.find(token.text);
  if (known != nullptr && !known->kind.empty())
    fail_at(span_of(token), fmt::format("{} is a type parameter of kind {}, not a dimension", token.text, known->kind),
            {}, ErrorCode::TypeError);
  return sym_var(token.text);
}

}  // namespace ingot::text
