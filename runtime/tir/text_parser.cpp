#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/tir/builder.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/expr_ops.h"
#include "runtime/tir/lexer.h"
#include "runtime/tir/text.h"
#include "runtime/tir/words.h"

namespace ingot::tir {
namespace {

constexpr int kMaxNesting = 256;

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

using Entity = std::variant<BufferId, LetRef, SymVar>;

class Parser {
 public:
  Parser(std::string_view text, size_t offset) : lexer_(text, offset) {}

  PrimFunc function() {
    start_ = lexer_.peek().offset;
    lexer_.expect("prim_func");
    name();
    lexer_.expect("(");
    parameters();
    func_.body = body(1);
    func_.outputs = count_outputs();
    try {
      check(func_);
    } catch (Error& error) {
      error.add_context(lexer_.place(start_));
      throw;
    }
    return std::move(func_);
  }

  size_t end() const { return lexer_.end_of_last(); }

 private:
  template <typename... Args>
  [[noreturn]] void bad(size_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    lexer_.report(ErrorCode::ParseError, offset, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  [[noreturn]] void mistyped(size_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    lexer_.report(ErrorCode::TypeError, offset, format, std::forward<Args>(args)...);
  }

  // Names.

  void name() {
    lexer_.expect("@");
    const Token token = lexer_.take();
    if (token.kind != TokenKind::Word && token.kind != TokenKind::Text)
      bad(token.offset, "expected the function's name after '@'");
    for (size_t i = 0; i < token.text.size(); ++i) {
      if (token.kind == TokenKind::Text && token.text[i] == '\\') ++i;
      func_.name += token.text[i];
    }
  }

  std::string new_name(std::string_view what) {
    const size_t offset = lexer_.peek().offset;
    const std::string name(lexer_.expect_word(what));
    if (is_reserved(name)) bad(offset, "'{}' cannot be a name", name);
    return name;
  }

  void bind(const std::string& name, Entity entity) {
    names_[name].push_back(std::move(entity));
    bound_.push_back(name);
  }
  const Entity* find(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() || found->second.empty() ? nullptr : &found->second.back();
  }
  void unbind_to(size_t count) {
    for (; bound_.size() > count; bound_.pop_back()) names_.find(bound_.back())->second.pop_back();
  }

  // Parameters.

  DType dtype() {
    const size_t offset = lexer_.peek().offset;
    const std::string_view text = lexer_.expect_word("a dtype");
    const auto dtype = parse_dtype(text);
    if (!dtype || *dtype == DType::String) bad(offset, "'{}' is not a dtype of elements", text);
    return *dtype;
  }

  // Scalars are bound first, so that dimensions in front of them can use them.
  void parameters() {
    const size_t start = lexer_.peek().offset;
    each_parameter([&](const std::string& name, bool) {
      if (lexer_.at("Buffer")) {
        while (!lexer_.at("]") && lexer_.peek().kind != TokenKind::End) lexer_.take();
        lexer_.expect("]");
        return;
      }
      const LetRef var = make_let(name, dtype());
      func_.scalars.push_back({var});
      bind(name, var);
    });
    lexer_.rewind(start);
    in_parameters_ = true;
    each_parameter([&](const std::string& name, bool is_output) {
      if (!lexer_.at("Buffer")) {
        dtype();
        return;
      }
      has_out_ |= is_output;
      if (has_out_ && !is_output) bad(lexer_.peek().offset, "{} is an input; inputs come before outputs", name);
      func_.outputs += is_output;
      bind(name, buffer(name));
      ++func_.params;
    });
    in_parameters_ = false;
  }

  template <typename Visit>
  void each_parameter(Visit visit) {
    func_.outputs = 0;
    while (!lexer_.accept(")")) {
      const bool is_output = lexer_.accept("out");
      const size_t offset = lexer_.peek().offset;
      const std::string name = new_name("a parameter");
      lexer_.expect(":");
      if (lexer_.at("Buffer") == in_parameters_ && find(name)) bad(offset, "{} is defined twice", name);
      visit(name, is_output);
      if (!lexer_.accept(",") && !lexer_.at(")")) lexer_.expect(")");
    }
  }

  BufferId buffer(const std::string& name) {
    lexer_.expect("Buffer");
    lexer_.expect("[");
    Buffer buffer{name, DType::None, {}};
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      buffer.dims.push_back(index());
      if (!lexer_.accept(",") && !lexer_.at(")")) lexer_.expect(")");
    }
    lexer_.expect(",");
    buffer.dtype = dtype();
    lexer_.expect("]");
    func_.buffers.push_back(std::move(buffer));
    stored_.push_back(false);
    return static_cast<BufferId>(func_.buffers.size() - 1);
  }

  uint32_t count_outputs() const {
    const auto params = std::span(func_.buffers).first(func_.params);
    if (has_out_) return func_.outputs;
    uint32_t outputs = 0;
    while (outputs < func_.params && stored_[func_.params - 1 - outputs]) ++outputs;
    for (uint32_t id = 0; id + outputs < func_.params; ++id)
      if (stored_[id])
        bad(start_,
            "@{}: {} is written but comes before {}, which is not; outputs come last, `out` in front of a name makes "
            "one of it",
            func_.name, params[id].name, params[func_.params - 1 - outputs].name);
    return outputs;
  }

  // Statements.

  std::vector<Stmt> body(uint32_t depth) {
    if (depth > kMaxStmtDepth) bad(lexer_.peek().offset, "statements are nested deeper than {}", kMaxStmtDepth);
    lexer_.expect("{");
    const size_t outside = bound_.size();
    std::vector<Stmt> list;
    while (!lexer_.accept("}")) list.push_back(statement(depth));
    unbind_to(outside);
    return list;
  }

  Stmt statement(uint32_t depth) {
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

  Stmt loop_statement(uint32_t depth) {
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

  Stmt let_statement() {
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

  Stmt if_statement(uint32_t depth) {
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

  Stmt store_statement() {
    const size_t offset = lexer_.peek().offset;
    const std::string name(lexer_.expect_word("a statement"));
    const BufferId id = buffer_named(name, offset);
    std::vector<PrimExpr> indices = bracketed(id, offset);
    lexer_.expect("=");
    const size_t value_offset = lexer_.peek().offset;
    const DType dtype = func_.buffers[id].dtype;
    Expr value = typed(dtype);
    if (value->dtype != dtype)
      mistyped(value_offset, "a {} is stored to {} of dtype {}; use cast(..., {})", dtype_name(value->dtype), name,
               dtype_name(dtype), dtype_name(dtype));
    lexer_.expect(";");
    stored_[id] = true;
    return store(id, std::move(indices), std::move(value));
  }

  BufferId buffer_named(std::string_view name, size_t offset) const {
    const Entity* entity = find(name);
    if (!entity) bad(offset, "{} is not defined", name);
    const auto* id = std::get_if<BufferId>(entity);
    if (!id) bad(offset, "{} is not a buffer", name);
    return *id;
  }

  std::vector<PrimExpr> bracketed(BufferId id, size_t offset) {
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

  // Symbolic expressions.

  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting)
        parser_.bad(parser_.lexer_.peek().offset, "expressions are nested deeper than {}", kMaxNesting);
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  PrimExpr make_index(size_t offset, PrimOp op, std::vector<PrimExpr> operands) const {
    try {
      return PrimExpr::make(op, std::move(operands));
    } catch (const Error& error) {
      bad(offset, "{}", error.what());
    }
  }

  struct IndexOperator {
    PrimOp op;
    int precedence;
    bool swapped = false;
  };
  std::optional<IndexOperator> index_operator() const {
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

  PrimExpr index(int least = 0) {
    PrimExpr left = index_operand();
    for (auto info = index_operator(); info && info->precedence >= std::max(least, 1); info = index_operator()) {
      const size_t offset = lexer_.take().offset;
      PrimExpr right = index(info->precedence + 1);
      if (info->swapped) std::swap(left, right);
      left = make_index(offset, info->op, {left, right});
    }
    return left;
  }

  PrimExpr index_operand() {
    const Nested nested(*this);
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

  PrimExpr index_literal(const Token& token, bool negative) const {
    const bool fits_type = token.suffix == DType::None || token.suffix == DType::Int64;
    const auto bits = fits_type ? literal_bits(DType::Int64, token.number, negative) : std::nullopt;
    if (!bits) mistyped(token.offset, "{} is not an int64, which an index takes", token.number.digits);
    return static_cast<int64_t>(*bits);
  }

  PrimExpr index_call(const Token& function) {
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

  // Expressions.

  Expr typed(DType wanted) { return build(*expression(), wanted); }

  AstRef node(ExprOp op, size_t offset, std::vector<AstRef> operands = {}) const {
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

  template <typename... Args>
  AstRef combine(ExprOp op, size_t offset, Args... operands) const {
    std::vector<AstRef> list;
    (list.push_back(std::move(operands)), ...);
    return node(op, offset, std::move(list));
  }

  std::optional<ExprOp> infix() const {
    if (lexer_.peek().kind != TokenKind::Symbol) return std::nullopt;
    for (auto op = static_cast<size_t>(ExprOp::Add); op < kExprOpCount; ++op) {
      const ExprOpInfo& info = expr_op_info(static_cast<ExprOp>(op));
      if (info.arity == 2 && info.precedence != 0 && lexer_.at(info.name)) return static_cast<ExprOp>(op);
    }
    return std::nullopt;
  }

  AstRef expression(int least = 1) {
    AstRef left = operand();
    for (auto op = infix(); op && expr_op_info(*op).precedence >= least; op = infix()) {
      const size_t offset = lexer_.take().offset;
      left = combine(*op, offset, std::move(left), expression(expr_op_info(*op).precedence + 1));
    }
    return left;
  }

  AstRef operand() {
    const Nested nested(*this);
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

  AstRef word(const Token& token) {
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

  AstRef index_node(size_t offset, PrimExpr value) const {
    AstRef ast = node(ExprOp::Index, offset);
    ast->index = std::move(value);
    ast->dtype = DType::Int64;
    return ast;
  }

  AstRef constant(size_t offset, DType dtype, uint64_t bits) const {
    AstRef ast = node(ExprOp::Const, offset);
    ast->dtype = dtype;
    ast->bits = bits;
    return ast;
  }

  AstRef literal(size_t offset, NumberText number, DType suffix, bool negative) const {
    if (suffix != DType::None) return constant(offset, suffix, element(offset, suffix, number, negative));
    AstRef ast = node(ExprOp::Const, offset);
    ast->number = number;
    ast->negative = negative;
    ast->has_float = number.is_float;
    return ast;
  }

  uint64_t element(size_t offset, DType dtype, NumberText number, bool negative) const {
    const auto bits = literal_bits(dtype, number, negative);
    if (!bits) mistyped(offset, "{}{} is not a {}", negative ? "-" : "", number.digits, dtype_name(dtype));
    return *bits;
  }

  AstRef call(const Token& function) {
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

  AstRef bits_call(size_t offset) {
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

  // Gives dtypes to what has none yet, from the inside of the expression or else from its context.
  Expr build(const Ast& ast, DType wanted) const {
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

  Expr operation(const Ast& ast, DType dtype) const {
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

  Lexer lexer_;
  PrimFunc func_;
  std::vector<bool> stored_;
  bool has_out_ = false;
  bool in_parameters_ = false;
  size_t start_ = 0;
  int nesting_ = 0;
  std::map<std::string, std::vector<Entity>, std::less<>> names_;
  std::vector<std::string> bound_;
};

}  // namespace

PrimFunc parse(std::string_view text, size_t& offset) {
  Parser parser(text, offset);
  PrimFunc func = parser.function();
  offset = parser.end();
  return func;
}

}  // namespace ingot::tir
