#pragma once
#include <map>
#include <memory>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/tir/lexer.h"
#include "runtime/tir/prim_func.h"

namespace ingot::tir {

// An expression as written. Literals without a suffix, and what consists of them alone, take their dtype from around.
struct Ast;
using AstRef = std::unique_ptr<Ast>;
struct Ast {
  ExprOp op = ExprOp::Const;
  size_t offset = 0;
  DType dtype = DType::None;  // None: that of the context
  bool has_float = false;     // an untyped one that contains a decimal literal
  NumberText number;          // of an untyped literal
  bool negative = false;
  uint64_t bits = 0;  // of a typed literal
  PrimExpr index;
  LetRef let;
  BufferId buffer = 0;
  std::vector<PrimExpr> indices;
  std::vector<AstRef> operands;
  uint32_t depth = 1;

  DType default_dtype() const { return has_float ? DType::Float32 : DType::Int32; }
};

// A parser by recursive descent of one PrimFunc (text.h); its parts are in parse_*.cpp.
class Parser {
 public:
  // Where `any_order`, outputs may stand in front of inputs.
  Parser(std::string_view text, size_t offset, bool any_order) : lexer_(text, offset), any_order_(any_order) {}

  PrimFunc function();
  // The buffers' places in the text; empty where they stand in the order of the function.
  const std::vector<uint32_t>& order() const { return order_; }
  // Behind the function.
  size_t end() const { return lexer_.end_of_last(); }

 private:
  using Entity = std::variant<BufferId, LetRef, SymVar>;

  template <typename... Args>
  [[noreturn]] void bad(size_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    lexer_.report(ErrorCode::ParseError, offset, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  [[noreturn]] void mistyped(size_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    lexer_.report(ErrorCode::TypeError, offset, format, std::forward<Args>(args)...);
  }

  // Counts how deeply expressions are nested.
  class Nesting {
   public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  // Names and parameters (text_parser.cpp).
  void name();
  std::string new_name(std::string_view what);
  void bind(const std::string& name, Entity entity);
  const Entity* find(std::string_view name) const;
  void unbind_to(size_t count);
  DType dtype();
  // Scalars are bound first, so that dimensions in front of them can use them.
  void parameters();
  template <typename Visit>
  void each_parameter(Visit visit);
  BufferId buffer(const std::string& name);
  uint32_t count_outputs() const;
  void move_outputs_behind();

  // Statements (parse_statements.cpp).
  std::vector<Stmt> body(uint32_t depth);
  Stmt statement(uint32_t depth);
  Stmt loop_statement(uint32_t depth);
  Stmt let_statement();
  Stmt if_statement(uint32_t depth);
  Stmt store_statement();
  BufferId buffer_named(std::string_view name, size_t offset) const;
  std::vector<PrimExpr> bracketed(BufferId id, size_t offset);

  // Symbolic expressions (parse_indices.cpp).
  struct IndexOperator {
    PrimOp op;
    int precedence;
    bool swapped = false;
  };
  PrimExpr make_index(size_t offset, PrimOp op, std::vector<PrimExpr> operands) const;
  std::optional<IndexOperator> index_operator() const;
  PrimExpr index(int least = 0);
  PrimExpr index_operand();
  PrimExpr index_literal(const Token& token, bool negative) const;
  PrimExpr index_call(const Token& function);

  // Expressions (parse_expressions.cpp).
  Expr typed(DType wanted);
  AstRef node(ExprOp op, size_t offset, std::vector<AstRef> operands = {}) const;
  template <typename... Args>
  AstRef combine(ExprOp op, size_t offset, Args... operands) const {
    std::vector<AstRef> list;
    (list.push_back(std::move(operands)), ...);
    return node(op, offset, std::move(list));
  }
  std::optional<ExprOp> infix() const;
  AstRef expression(int least = 1);
  AstRef operand();
  AstRef word(const Token& token);
  AstRef index_node(size_t offset, PrimExpr value) const;
  AstRef constant(size_t offset, DType dtype, uint64_t bits) const;
  AstRef literal(size_t offset, NumberText number, DType suffix, bool negative) const;
  uint64_t element(size_t offset, DType dtype, NumberText number, bool negative) const;
  AstRef call(const Token& function);
  AstRef bits_call(size_t offset);
  // Gives dtypes to what has none yet, from the inside of the expression or else from its context.
  Expr build(const Ast& ast, DType wanted) const;
  Expr operation(const Ast& ast, DType dtype) const;

  Lexer lexer_;
  PrimFunc func_;
  std::vector<bool> stored_;
  std::vector<bool> out_;  // of the parameters
  bool has_out_ = false;
  bool any_order_;
  std::vector<uint32_t> order_;
  bool in_parameters_ = false;
  size_t start_ = 0;
  int nesting_ = 0;
  std::map<std::string, std::vector<Entity>, std::less<>> names_;
  std::vector<std::string> bound_;
};

}  // namespace ingot::tir
