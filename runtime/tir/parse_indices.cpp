#include <algorithm>

#include "runtime/tir/text_parser.h"
#include "runtime/tir/words.h"

namespace ingot::tir {
namespace {

constexpr int kMaxNesting = 256;

}  // namespace

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  if (++parser_.nesting_ > kMaxNesting)
    parser_.bad(parser_.lexer_.peek().offset, "expressions are nested deeper than {}", kMaxNesting);
}

PrimExpr Parser::make_index(size_t offset, PrimOp op, std::vector<PrimExpr> operands) const {
  try {
    return PrimExpr::make(op, std::move(operands));
  } catch (const Error& error) {
    bad(offset, "{}", error.what());
  }
}

std::optional<Parser::IndexOperator> Parser::index_operator() const {
  static constexpr std::pair<std::string_view, IndexOperator> kOperators[] = {
      {"||", {PrimOp::Or, 1}},        {"&&", {PrimOp::And, 2}},
      {"==", {PrimOp::Equal, 3}},     {"!=", {PrimOp::NotEqual, 3}},
      {"<", {PrimOp::Less, 4}},       {"<=", {PrimOp::LessEqual, 4}},
      {">", {PrimOp::Less, 4, true}}, {">=", {PrimOp::LessEqual, 4, true}},
      {"+", {PrimOp::Add, 5}},        {"-", {PrimOp::Sub, 5}},
      {"*", {PrimOp::Mul, 6}},        {"/", {PrimOp::FloorDiv, 6}},
      {"%", {PrimOp::FloorMod, 6}}};
  for (const auto& [text, info] : kOperators)
    if (lexer_.at(text)) return info;
  return std::nullopt;
}

PrimExpr Parser::index(int least) {
  PrimExpr left = index_operand();
  for (auto info = index_operator(); info && info->precedence >= std::max(least, 1); info = index_operator()) {
    const size_t offset = lexer_.take().offset;
    PrimExpr right = index(info->precedence + 1);
    if (info->swapped) std::swap(left, right);
    left = make_index(offset, info->op, {left, right});
  }
  return left;
}

PrimExpr Parser::index_operand() {
  const Nesting nesting(*this);
  const Token token = lexer_.take();
  if (token.kind == TokenKind::Number) return index_literal(token, false);
  if (token.text == "-" && token.kind == TokenKind::Symbol) {
    if (lexer_.peek().kind == TokenKind::Number) return index_literal(lexer_.take(), true);
    return make_index(token.offset, PrimOp::Sub, {0, index_operand()});
  }
  if (token.text == "!" && token.kind == TokenKind::Symbol)
    return make_index(token.offset, PrimOp::Not, {index_operand()});
  if (token.text == "(" && token.kind == TokenKind::Symbol) {
    PrimExpr inner = index();
    lexer_.expect(")");
    return inner;
  }
  if (token.kind != TokenKind::Word) bad(token.offset, "expected an index expression");
  if (lexer_.at("(")) return index_call(token);
  const Entity* entity = find(token.text);
  if (!entity && in_parameters_) {
    if (is_reserved(token.text)) bad(token.offset, "'{}' cannot be a name", token.text);
    const SymVar var = make_sym_var(std::string(token.text));
    bind(var->name, var);
    return var;
  }
  if (!entity) bad(token.offset, "{} is not defined", token.text);
  if (const auto* var = std::get_if<SymVar>(entity)) return *var;
  const auto* let = std::get_if<LetRef>(entity);
  if (!let) bad(token.offset, "{} is a buffer; bind its element by let to use it in an index", token.text);
  if (!(*let)->index)
    mistyped(token.offset, "{} is {}; an index takes int64, use cast", token.text, dtype_name((*let)->dtype));
  return (*let)->index;
}

PrimExpr Parser::index_literal(const Token& token, bool negative) const {
  const bool fits_type = token.suffix == DType::None || token.suffix == DType::Int64;
  const auto bits = fits_type ? literal_bits(DType::Int64, token.number, negative) : std::nullopt;
  if (!bits) mistyped(token.offset, "{} is not an int64, which an index takes", token.number.digits);
  return static_cast<int64_t>(*bits);
}

PrimExpr Parser::index_call(const Token& function) {
  PrimOp op = PrimOp::Select;
  if (function.text == "min")
    op = PrimOp::Min;
  else if (function.text == "max")
    op = PrimOp::Max;
  else if (function.text != "select")
    bad(function.offset, "{} cannot be called in an index", function.text);
  lexer_.expect("(");
  std::vector<PrimExpr> operands;
  while (!lexer_.accept(")")) {
    operands.push_back(index());
    if (!lexer_.accept(",") && !lexer_.at(")")) lexer_.expect(")");
  }
  if (operands.size() != operand_count(op))
    mistyped(function.offset, "{} takes {} arguments, not {}", function.text, operand_count(op), operands.size());
  return make_index(function.offset, op, std::move(operands));
}

}  // namespace ingot::tir
