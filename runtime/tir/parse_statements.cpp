#include "runtime/tir/builder.h"
#include "runtime/tir/expr_ops.h"
#include "runtime/tir/text_parser.h"

namespace ingot::tir {

std::vector<Stmt> Parser::body(uint32_t depth) {
  if (depth > kMaxStmtDepth) bad(lexer_.peek().offset, "statements are nested deeper than {}", kMaxStmtDepth);
  lexer_.expect("{");
  const size_t outside = bound_.size();
  std::vector<Stmt> list;
  while (!lexer_.accept("}")) list.push_back(statement(depth));
  unbind_to(outside);
  return list;
}

Stmt Parser::statement(uint32_t depth) {
  if (lexer_.accept("for")) return loop_statement(depth);
  if (lexer_.accept("let")) return let_statement();
  if (lexer_.accept("if")) return if_statement(depth);
  if (lexer_.accept("alloc")) {
    const std::string name = new_name("the name of a buffer");
    lexer_.expect(":");
    const BufferId id = buffer(name);
    lexer_.expect(";");
    bind(name, id);
    return allocate(id);
  }
  return store_statement();
}

Stmt Parser::loop_statement(uint32_t depth) {
  const std::string name = new_name("the loop's index");
  lexer_.expect("in");
  PrimExpr extent = index();
  LoopKind kind = LoopKind::Serial;
  if (lexer_.accept("parallel")) kind = LoopKind::Parallel;
  if (lexer_.accept("reduce")) kind = LoopKind::Reduce;
  const SymVar var = make_sym_var(name);
  const size_t outside = bound_.size();
  bind(name, var);
  std::vector<Stmt> inner = body(depth + 1);
  unbind_to(outside);
  return loop(var, std::move(extent), kind, std::move(inner));
}

Stmt Parser::let_statement() {
  const std::string name = new_name("a name");
  const DType wanted = lexer_.accept(":") ? dtype() : DType::None;
  lexer_.expect("=");
  const size_t offset = lexer_.peek().offset;
  Expr value = typed(wanted);
  if (wanted != DType::None && value->dtype != wanted)
    mistyped(offset, "{} is {} but its value is {}; use cast", name, dtype_name(wanted), dtype_name(value->dtype));
  lexer_.expect(";");
  const LetRef var = make_let(name, value->dtype);
  bind(name, var);
  return let(var, std::move(value));
}

Stmt Parser::if_statement(uint32_t depth) {
  lexer_.expect("(");
  const size_t offset = lexer_.peek().offset;
  Expr condition = typed(DType::Bool);
  if (condition->dtype != DType::Bool)
    mistyped(offset, "the condition of if is {} instead of bool", dtype_name(condition->dtype));
  lexer_.expect(")");
  std::vector<Stmt> then_body = body(depth + 1);
  std::vector<Stmt> else_body;
  if (lexer_.accept("else")) {
    if (lexer_.accept("if")) {
      if (depth >= kMaxStmtDepth) bad(offset, "statements are nested deeper than {}", kMaxStmtDepth);
      else_body.push_back(if_statement(depth + 1));
    } else {
      else_body = body(depth + 1);
    }
  }
  return branch(std::move(condition), std::move(then_body), std::move(else_body));
}

Stmt Parser::store_statement() {
  const size_t offset = lexer_.peek().offset;
  const std::string name(lexer_.expect_word("a statement"));
  const BufferId id = buffer_named(name, offset);
  std::vector<PrimExpr> indices = bracketed(id, offset);
  lexer_.expect("=");
  const size_t value_offset = lexer_.peek().offset;
  const DType dtype = func_.buffers[id].dtype;
  Expr value = typed(dtype);
  if (value->dtype != dtype)
    mistyped(value_offset, "{} is stored to {} of dtype {}; use cast(..., {})", dtype_name(value->dtype), name,
             dtype_name(dtype), dtype_name(dtype));
  lexer_.expect(";");
  stored_[id] = true;
  return store(id, std::move(indices), std::move(value));
}

BufferId Parser::buffer_named(std::string_view name, size_t offset) const {
  const Entity* entity = find(name);
  if (!entity) bad(offset, "{} is not defined", name);
  const auto* id = std::get_if<BufferId>(entity);
  if (!id) bad(offset, "{} is not a buffer", name);
  return *id;
}

std::vector<PrimExpr> Parser::bracketed(BufferId id, size_t offset) {
  lexer_.expect("[");
  std::vector<PrimExpr> indices;
  while (!lexer_.accept("]")) {
    indices.push_back(index());
    if (!lexer_.accept(",") && !lexer_.at("]")) lexer_.expect("]");
  }
  const Buffer& buffer = func_.buffers[id];
  if (indices.size() != buffer.dims.size())
    mistyped(offset, "{} has {} dimensions but {} indices", buffer.name, buffer.dims.size(), indices.size());
  return indices;
}

}  // namespace ingot::tir
