#include <algorithm>
#include <charconv>

#include "runtime/tir/builder.h"
#include "runtime/tir/expr_ops.h"
#include "runtime/tir/text_parser.h"
#include "runtime/tir/words.h"

namespace ingot::tir {

Expr Parser::typed(DType wanted) { return build(*expression(), wanted); }

AstRef Parser::node(ExprOp op, size_t offset, std::vector<AstRef> operands) const {
  auto ast = std::make_unique<Ast>();
  ast->op = op;
  ast->offset = offset;
  for (const AstRef& operand : operands) ast->depth = std::max(ast->depth, operand->depth + 1);
  if (ast->depth > kMaxExprNesting) bad(offset, "the expression is nested deeper than {}", kMaxExprNesting);
  ast->operands = std::move(operands);
  const Operands kind = expr_op_info(op).operands;
  if (kind == Operands::Comparison || kind == Operands::Predicate) {
    ast->dtype = DType::Bool;
  } else if (op != ExprOp::Cast) {
    for (size_t i = op == ExprOp::Select ? 1 : 0; i < ast->operands.size(); ++i) {
      if (ast->dtype == DType::None) ast->dtype = ast->operands[i]->dtype;
      ast->has_float |= ast->operands[i]->has_float;
    }
  }
  return ast;
}

std::optional<ExprOp> Parser::infix() const {
  if (lexer_.peek().kind != TokenKind::Symbol) return std::nullopt;
  for (auto op = static_cast<size_t>(ExprOp::Add); op < kExprOpCount; ++op) {
    const ExprOpInfo& info = expr_op_info(static_cast<ExprOp>(op));
    if (info.arity == 2 && info.precedence != 0 && lexer_.at(info.name)) return static_cast<ExprOp>(op);
  }
  return std::nullopt;
}

AstRef Parser::expression(int least) {
  AstRef left = operand();
  for (auto op = infix(); op && expr_op_info(*op).precedence >= least; op = infix()) {
    const size_t offset = lexer_.take().offset;
    left = combine(*op, offset, std::move(left), expression(expr_op_info(*op).precedence + 1));
  }
  return left;
}

AstRef Parser::operand() {
  const Nesting nesting(*this);
  const Token token = lexer_.take();
  if (token.kind == TokenKind::Number) return literal(token.offset, token.number, token.suffix, false);
  if (token.kind == TokenKind::Symbol && token.text == "-") {
    if (lexer_.peek().kind == TokenKind::Number) {
      const Token digits = lexer_.take();
      return literal(token.offset, digits.number, digits.suffix, true);
    }
    const auto named = lexer_.peek().kind == TokenKind::Word ? named_number(lexer_.peek().text) : std::nullopt;
    if (named) {
      lexer_.take();
      return literal(token.offset, named->number, named->dtype, true);
    }
    return combine(ExprOp::Neg, token.offset, operand());
  }
  if (token.kind == TokenKind::Symbol && token.text == "!") return combine(ExprOp::Not, token.offset, operand());
  if (token.kind == TokenKind::Symbol && token.text == "(") {
    AstRef inner = expression();
    lexer_.expect(")");
    return inner;
  }
  if (token.kind != TokenKind::Word) bad(token.offset, "expected an expression");
  return word(token);
}

AstRef Parser::word(const Token& token) {
  if (token.text == "True" || token.text == "False") return constant(token.offset, DType::Bool, token.text == "True");
  if (const auto named = named_number(token.text)) return literal(token.offset, named->number, named->dtype, false);
  if (lexer_.at("(")) return call(token);
  const Entity* entity = find(token.text);
  if (!entity) bad(token.offset, "{} is not defined", token.text);
  if (const auto* let = std::get_if<LetRef>(entity)) {
    AstRef ast = node(ExprOp::Let, token.offset);
    ast->let = *let;
    ast->dtype = (*let)->dtype;
    return ast;
  }
  if (const auto* var = std::get_if<SymVar>(entity)) return index_node(token.offset, *var);
  AstRef ast = node(ExprOp::Load, token.offset);
  ast->buffer = std::get<BufferId>(*entity);
  ast->dtype = func_.buffers[ast->buffer].dtype;
  ast->indices = bracketed(ast->buffer, token.offset);
  return ast;
}

AstRef Parser::index_node(size_t offset, PrimExpr value) const {
  AstRef ast = node(ExprOp::Index, offset);
  ast->index = std::move(value);
  ast->dtype = DType::Int64;
  return ast;
}

AstRef Parser::constant(size_t offset, DType dtype, uint64_t bits) const {
  AstRef ast = node(ExprOp::Const, offset);
  ast->dtype = dtype;
  ast->bits = bits;
  return ast;
}

AstRef Parser::literal(size_t offset, NumberText number, DType suffix, bool negative) const {
  if (suffix != DType::None) return constant(offset, suffix, element(offset, suffix, number, negative));
  AstRef ast = node(ExprOp::Const, offset);
  ast->number = number;
  ast->negative = negative;
  ast->has_float = number.is_float;
  return ast;
}

uint64_t Parser::element(size_t offset, DType dtype, NumberText number, bool negative) const {
  const auto bits = literal_bits(dtype, number, negative);
  if (!bits) mistyped(offset, "{}{} is not a {}", negative ? "-" : "", number.digits, dtype_name(dtype));
  return *bits;
}

AstRef Parser::call(const Token& function) {
  const auto op = function_named(function.text);
  if (!op && function.text != "bits") bad(function.offset, "{} is not a function of prim_funcs", function.text);
  lexer_.expect("(");
  if (!op) return bits_call(function.offset);
  if (*op == ExprOp::Index) {
    AstRef ast = index_node(function.offset, index());
    lexer_.expect(")");
    return ast;
  }
  std::vector<AstRef> arguments;
  DType target = DType::None;
  while (!lexer_.accept(")")) {
    if (*op == ExprOp::Cast && arguments.size() == 1) {
      target = dtype();
    } else {
      arguments.push_back(expression());
    }
    if (!lexer_.accept(",") && !lexer_.at(")")) lexer_.expect(")");
  }
  if (arguments.size() != expr_op_info(*op).arity || (*op == ExprOp::Cast && target == DType::None))
    mistyped(function.offset, "{} takes {} arguments, not {}", function.text,
             *op == ExprOp::Cast ? 2 : expr_op_info(*op).arity, arguments.size());
  AstRef ast = node(*op, function.offset, std::move(arguments));
  if (*op == ExprOp::Cast) ast->dtype = target;
  return ast;
}

AstRef Parser::bits_call(size_t offset) {
  const Token token = lexer_.take();
  std::string_view digits = token.number.digits;
  uint64_t bits = 0;
  if (!digits.starts_with("0x")) bad(token.offset, "bits takes a number in hexadecimal, such as 0x7fc00001");
  digits.remove_prefix(2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  lexer_.expect(",");
  const DType target = dtype();
  lexer_.expect(")");
  const size_t width = 8 * dtype_bytes(target);
  if (error != std::errc() || end != digits.data() + digits.size() || (width < 64 && (bits >> width) != 0))
    mistyped(token.offset, "{} are not the bits of a {}", token.number.digits, dtype_name(target));
  return constant(offset, target, bits);
}

Expr Parser::build(const Ast& ast, DType wanted) const {
  const DType context = wanted != DType::None ? wanted : ast.default_dtype();
  const DType dtype = ast.dtype != DType::None ? ast.dtype : context;
  switch (ast.op) {
    case ExprOp::Const: {
      ExprNode constant{.op = ExprOp::Const, .dtype = dtype, .bits = ast.bits};
      if (ast.dtype == DType::None) constant.bits = element(ast.offset, dtype, ast.number, ast.negative);
      return std::make_shared<const ExprNode>(std::move(constant));
    }
    case ExprOp::Index:
      return index_value(ast.index);
    case ExprOp::Let:
      return let_value(ast.let);
    case ExprOp::Load:
      return load(func_, ast.buffer, ast.indices);
    case ExprOp::Cast: {
      ExprNode cast{.op = ExprOp::Cast, .dtype = dtype};
      cast.operands.push_back(build(*ast.operands[0], DType::None));
      return std::make_shared<const ExprNode>(std::move(cast));
    }
    case ExprOp::Select: {
      Expr condition = build(*ast.operands[0], DType::Bool);
      if (condition->dtype != DType::Bool)
        mistyped(ast.operands[0]->offset, "the condition of select is {} instead of bool",
                 dtype_name(condition->dtype));
      Expr if_true = build(*ast.operands[1], dtype);
      Expr if_false = build(*ast.operands[2], dtype);
      if (if_true->dtype != if_false->dtype)
        mistyped(ast.offset, "the branches of select are {} and {}; use cast", dtype_name(if_true->dtype),
                 dtype_name(if_false->dtype));
      return select(std::move(condition), std::move(if_true), std::move(if_false));
    }
    default:
      return operation(ast, dtype);
  }
}

Expr Parser::operation(const Ast& ast, DType dtype) const {
  const ExprOpInfo& info = expr_op_info(ast.op);
  DType common = dtype;
  if (info.operands == Operands::Comparison || info.operands == Operands::Predicate) {
    common = DType::None;
    bool has_float = info.operands == Operands::Predicate;
    for (const AstRef& operand : ast.operands) {
      if (common == DType::None) common = operand->dtype;
      has_float |= operand->has_float;
    }
    if (common == DType::None) common = has_float ? DType::Float32 : DType::Int32;
  }
  std::vector<Expr> operands;
  for (const AstRef& operand : ast.operands) operands.push_back(build(*operand, common));
  const DType first = operands[0]->dtype;
  if (!accepts_dtype(ast.op, first))
    mistyped(ast.offset, "'{}' takes {}, not {}", info.name, operands_text(info.operands), dtype_name(first));
  if (operands.back()->dtype != first)
    mistyped(ast.offset, "'{}' is applied to {} and {}; use cast", info.name, dtype_name(first),
             dtype_name(operands.back()->dtype));
  return operands.size() == 1 ? unary(ast.op, operands[0]) : binary(ast.op, operands[0], operands[1]);
}

}  // namespace ingot::tir
