#pragma once
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/op.h"
#include "compiler/text/lexer.h"
#include "compiler/text/parser.h"
#include "compiler/text/reorder_arguments.h"
#include "compiler/text/scopes.h"

namespace ingot::text {

// Thrown where a statement or definition cannot be understood, after the diagnostic was recorded.
struct SyntaxError {};

// A symbolic variable in scope. Type parameters live among them.
struct SymEntry {
  SymVar var;
  std::string kind;  // "": a dimension; otherwise that of a type parameter: "Type", "Shape", "BaseType"
};

// A parser by recursive descent over the tokens of one text; its parts are in parse_*.cpp.
class Parser {
 public:
  Parser(std::shared_ptr<const ir::Source> source, ir::Diagnostics& diagnostics, const ParseOptions& options);

  ir::Module module();

 private:
  using Expr = ir::Expr;

  // Tokens (parser_state.cpp).
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take();
  bool at(std::string_view punctuation) const { return peek().is(punctuation); }
  bool at_word(std::string_view word) const { return peek().is_word(word); }
  bool accept(std::string_view punctuation);
  bool accept_word(std::string_view word);
  void expect(std::string_view punctuation, std::string_view where);
  ir::Span span_of(const Token& token) const;
  ir::Span span_from(size_t first) const;  // from that token to the one before the current
  // Has a string that does not end taken brackets of this definition with it?
  bool follows_open_string() const;
  [[noreturn]] void fail_here(std::string message, std::string hint = {});
  [[noreturn]] void fail_at(const ir::Span& span, std::string message, std::string hint = {},
                            ErrorCode code = ErrorCode::ParseError);
  void report(const ir::Span& span, std::string message, std::string hint = {}, ErrorCode code = ErrorCode::ParseError,
              int rule = 0);
  // Stands for what was not understood: a variable without a name that nobody binds.
  static Expr missing(const ir::Span& span) { return std::make_shared<ir::Var>("", nullptr, false, span); }
  void skip_brackets();  // from `(` to behind its `)`
  bool is_inside_brackets() const;
  void skip_statement(bool line_ends = false);
  bool at_definition() const;
  void skip_definition();
  bool skip_to_body();  // behind the next `{` of the statement or definition at hand, if it has one

  // Counts how deeply the parser is nested.
  class Nesting {
   public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.nesting_; }

   private:
    Parser& parser_;
  };
  // A new node; ParseError where it is nested too deeply.
  template <typename T, typename... Args>
  std::shared_ptr<T> make(Args&&... args) {
    auto node = std::make_shared<T>(std::forward<Args>(args)...);
    check_depth(*node);
    return node;
  }
  void check_depth(const ir::ExprNode& node);

  // parse_module.cpp
  void definition(ir::Module& module);
  void prim_func(ir::Module& module, bool exported);
  struct Signature {
    std::vector<ir::VarRef> params;
    StructInfo result;
    std::vector<ir::Function::TypeParam> type_params;
    std::vector<std::string> where;
    ir::Attrs attrs;
  };
  Signature signature();
  Signature understood_signature();
  void type_params(Signature& into, std::string_view closing);
  Expr function(bool pure, size_t first);  // from behind `fn` or `def @name` to the closing brace

  // parse_types.cpp
  StructInfo type();
  bool at_type() const;  // does an argument of a call begin with a StructInfo?
  StructInfo tensor_type(std::string_view closing);
  StructInfo shape_type(std::string_view closing);
  uint32_t rank();
  StructInfo prim_type(std::string_view closing);
  StructInfo function_type(bool pure);
  std::vector<PrimExpr> dims();  // from behind `(` to behind `)`
  PrimExpr unknown_dim();
  StructInfo annotation();  // of a let or a result
  PrimExpr prim_expr(int least = 0);
  PrimExpr prim_unary();
  PrimExpr prim_primary();
  SymVar sym_var(const std::string& name);  // the one in scope, otherwise a new one
  std::optional<DType> dtype_name_here();
  [[noreturn]] void refuse_type(const Token& name);
  [[noreturn]] void refuse_dtype(const Token& name);

  // parse_expressions.cpp
  Expr expression(int least = 0);
  Expr unary();
  Expr postfix();
  Expr primary();
  Expr word();
  Expr parentheses();
  Expr braces();
  Expr conditional();
  Expr use(const Token& token);
  Expr call_operator(std::string_view name, std::vector<Expr> args, const ir::Span& span);
  bool ends_graph_binding() const { return line_ends_ && peek().starts_line; }

  // parse_calls.cpp
  struct Arguments {
    std::vector<Expr> positional;
    std::vector<StructInfo> infos;
    ir::Attrs attrs;
  };
  Arguments arguments(const ir::Op* op);
  StructInfo type_argument();
  void named_argument(const ir::Op* op, Arguments& into);
  bool number_attribute(const ir::Op& op, std::string_view name, Arguments& into);
  Expr dtype_argument();
  Expr list_argument();
  void fill_gaps(const ir::Op& op, Arguments& into);
  void bind_positional_attributes(const ir::Op& op, Arguments& into);
  Expr call(Expr callee, std::vector<StructInfo> type_args, size_t first);
  std::optional<std::vector<StructInfo>> try_type_arguments();
  std::optional<ir::AttrValue> attribute_value();
  ir::Attrs attribute_block();
  void attribute(ir::Attrs& into);  // name=literal
  Expr match_cast_expression(size_t first);
  Expr cast_to(Expr value, StructInfo info, size_t first);
  Expr closure_call(size_t first);
  Expr closure_of(size_t first);
  struct Heading {
    size_t params;
    bool pure;
  };
  std::optional<Heading> heading_of(std::string_view global) const;
  Expr extern_function(size_t first);

  // parse_literals.cpp
  Expr number(bool negative, size_t first);
  Expr constant(size_t first);
  Expr prim_value(size_t first);

  // parse_statements.cpp
  Expr block();  // from behind `{` to behind `}`
  Expr statements(std::string_view closing);
  struct Block;
  void bind_skipped(Block& block, size_t begin);
  void bind_skipped_dims(Block& block, size_t begin);
  bool statement(Block& block, std::string_view closing);
  void let(Block& block, bool dataflow);
  void graph_binding(Block& block, bool dataflow);
  Expr bound_value(bool line_ends);
  void dataflow_block(Block& block);
  std::unordered_map<size_t, bool> dataflow_outputs() const;
  ir::VarRef new_var(const std::string& name, StructInfo annotation, bool dataflow, const ir::Span& span);
  std::string local_name(std::string_view where);
  void bind_local(const std::string& name, const ir::VarRef& var, size_t token);  // that spells the name

  std::shared_ptr<const ir::Source> source_;
  ir::Diagnostics& diagnostics_;
  const ParseOptions& options_;
  std::vector<Token> tokens_;
  const bool has_open_string_;
  size_t at_ = 0;
  uint32_t nesting_ = 0;
  bool gave_up_ = false;      // nested too deeply: no further errors
  bool syntax_only_ = false;  // nothing but ParseErrors is reported
  size_t continued_ = 0;      // the last `(` of a call that begins a line
  bool line_ends_ = false;    // a line break ends the expression: inside a graph binding, outside of brackets
  std::unordered_map<size_t, bool> outputs_;  // of the dataflow block at hand: defining token -> leaves the block
  Scopes<ir::VarRef> vars_;
  std::unordered_set<const ir::Var*> beside_operators_;  // %add leaves add(...) to the operator; a local add hides it
  Scopes<SymEntry> sym_vars_;
  std::set<SymVar> unknown_dims_;  // written as `?`
  Orders orders_;                  // of PrimFuncs that have outputs in front of inputs

  friend class LineMode;
};

// Switches the meaning of line breaks while it lives.
class LineMode {
 public:
  LineMode(Parser& parser, bool line_ends) : parser_(parser), before_(parser.line_ends_) {
    parser_.line_ends_ = line_ends;
  }
  ~LineMode() { parser_.line_ends_ = before_; }
  LineMode(const LineMode&) = delete;
  LineMode& operator=(const LineMode&) = delete;

 private:
  Parser& parser_;
  bool before_;
};

}  // namespace ingot::text
