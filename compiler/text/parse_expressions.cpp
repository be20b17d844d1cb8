#include <fmt/format.h>

#include "compiler/ops/ops.h"
#include "compiler/text/parser_state.h"

namespace ingot::text {
namespace {

struct Infix {
  int precedence;
  std::string_view op;
};

// Operators as sugar. `&&` and `||` have no operator of their own: see ir::ShortCircuit.
Infix infix_of(const Token& token) {
  if (token.kind != TokenKind::Punctuation) return {0, {}};
  const std::string& t = token.text;
  if (t == "||") return {1, {}};
  if (t == "&&") return {2, {}};
  if (t == "==") return {3, "equal"};
  if (t == "!=") return {3, "not_equal"};
  if (t == "<") return {4, "less"};
  if (t == "<=") return {4, "less_equal"};
  if (t == ">") return {4, "greater"};
  if (t == ">=") return {4, "greater_equal"};
  if (t == "+") return {5, "add"};
  if (t == "-") return {5, "subtract"};
  if (t == "*") return {6, "multiply"};
  if (t == "/") return {6, "divide"};
  if (t == "%") return {6, "mod"};
  return {0, {}};
}

Ref<TensorObject> truth(bool value) {
  auto tensor = make_tensor(nullptr, DType::Bool, {});
  *tensor->data = static_cast<std::byte>(value);
  return tensor;
}

std::string_view without_relax(std::string_view name) {
  if (name.starts_with("relax.")) name.remove_prefix(6);
  return name;
}

// Relax's way to call what is no function of the module.
bool invokes_closure(std::string_view name) {
  name = without_relax(name);
  return name == "invoke_closure" || name == "invoke_pure_closure";
}

}  // namespace

ir::Expr Parser::expression(int least) {
  const Nesting nesting(*this);
  const size_t first = at_;
  Expr left = unary();
  while (true) {
    const Infix infix = infix_of(peek());
    if (infix.precedence == 0 || infix.precedence < std::max(least, 1) || ends_graph_binding()) return left;
    const Token op = take();
    Expr right = expression(infix.precedence + 1);
    ir::Span span = span_from(first);
    if (op.text == "&&") {
      Expr no = make<ir::Constant>(truth(false), false, span_of(op));
      left = make<ir::If>(left, right, no, std::move(span), ir::ShortCircuit::And);
    } else if (op.text == "||") {
      Expr yes = make<ir::Constant>(truth(true), false, span_of(op));
      left = make<ir::If>(left, yes, right, std::move(span), ir::ShortCircuit::Or);
    } else {
      left = call_operator(infix.op, {left, right}, span);
    }
  }
}

ir::Expr Parser::call_operator(std::string_view name, std::vector<Expr> args, const ir::Span& span) {
  const ir::Op* op = ops::find(name);
  if (op == nullptr) fail_at(span, fmt::format("there is no operator {}", name), {}, ErrorCode::TypeError);
  return make<ir::Call>(make<ir::OpExpr>(op, span), std::move(args), ir::Attrs{}, std::vector<StructInfo>{}, span);
}

ir::Expr Parser::unary() {
  const size_t first = at_;
  if (accept("-")) {
    const Nesting nesting(*this);
    const Token& next = peek();
    const bool literal = next.kind == TokenKind::Integer || next.kind == TokenKind::Decimal || next.is_word("inf") ||
                         next.is_word("nan");
    if (literal && !peek(1).is(".") && vars_.find(next.text) == nullptr) return number(true, first);
    return call_operator("negative", {unary()}, span_from(first));
  }
  if (accept("!")) {
    const Nesting nesting(*this);
    return call_operator("logical_not", {unary()}, span_from(first));
  }
  return postfix();
}

ir::Expr Parser::postfix() {
  const size_t first = at_;
  Expr e = primary();
  while (!ends_graph_binding()) {
    if (at("(")) {
      if (peek().starts_line) continued_ = at_;
      e = call(std::move(e), {}, first);
    } else if (at(".") && peek(1).kind == TokenKind::Integer) {
      take();
      const Token index = take();
      if (!index.suffix.empty() || index.text.size() > 9)
        fail_at(span_of(index), fmt::format("{} is not an index of a tuple", index.described()));
      e = make<ir::TupleGetItem>(e, static_cast<uint32_t>(std::stoul(index.text)), span_from(first));
    } else if (at(".")) {
      take();
      fail_here(fmt::format("a tuple is projected by an integer constant, found {}", peek().described()),
                "write the number of the field, counted from 0: %t.0");
    } else if (at("<") && (e->kind == ir::ExprKind::GlobalVar || e->kind == ir::ExprKind::Var)) {
      auto type_args = try_type_arguments();
      if (!type_args) return e;
      e = call(std::move(e), std::move(*type_args), first);
    } else {
      return e;
    }
  }
  return e;
}

ir::Expr Parser::primary() {
  const size_t first = at_;
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::Local:
      return use(token);
    case TokenKind::Global: {
      const Token name = take();
      return make<ir::GlobalVar>(name.text, span_of(name));
    }
    case TokenKind::Integer:
    case TokenKind::Decimal:
      return number(false, first);
    case TokenKind::String: {
      const Token text = take();
      return make<ir::String>(text.text, span_of(text));
    }
    case TokenKind::Identifier:
      return word();
    default:
      break;
  }
  if (at("(")) return parentheses();
  if (at("{")) return braces();
  fail_here(fmt::format("expected an expression, found {}", token.described()));
}

ir::Expr Parser::use(const Token& token) {
  const Token name = token;
  take();
  if (const ir::VarRef* var = vars_.find(name.text)) return *var;
  return make<ir::Var>(name.text, nullptr, false, span_of(name));
}

ir::Expr Parser::word() {
  const size_t first = at_;
  const Token name = peek();
  const bool call = peek(1).is("(");
  if (const ir::VarRef* var = vars_.find(name.text);
      var != nullptr && !(call && beside_operators_.contains(var->get())))
    return use(name);
  if (name.text == "if") return conditional();
  if (name.text == "fn" || name.text == "fun") {
    take();
    return function(true, first);
  }
  if (name.text == "impure" && (peek(1).is_word("fn") || peek(1).is_word("fun"))) {
    take();
    take();
    return function(false, first);
  }
  if (name.text == "True" || name.text == "False" || name.text == "true" || name.text == "false") {
    take();
    return make<ir::Constant>(truth(name.text.front() == 'T' || name.text.front() == 't'), false, span_of(name));
  }
  if (name.text == "inf" || name.text == "nan") return number(false, first);
  if (call && name.text == "shape") {
    take();
    take();
    const LineMode lines(*this, false);
    std::vector<PrimExpr> values = dims();
    return make<ir::Shape>(std::move(values), span_from(first));
  }
  if (call && name.text == "prim") return prim_value(first);
  if (call && name.text == "dtype") {
    take();
    take();
    const auto dtype = dtype_name_here();
    const auto text = peek().kind == TokenKind::String ? parse_dtype(peek().text) : std::nullopt;
    if (!dtype && !text) fail_here(fmt::format("expected a dtype, found {}", peek().described()));
    take();
    expect(")", "after the dtype");
    return make<ir::DataType>(dtype ? *dtype : *text, span_from(first));
  }
  if (call && name.text == "null_value") {
    take();
    take();
    expect(")", "after null_value(");
    return make<ir::NullValue>(span_from(first));
  }
  if (call && name.text == "extern") return extern_function(first);
  if (call && name.text == "match_cast") return match_cast_expression(first);
  if (call && invokes_closure(name.text)) return closure_call(first);
  if (call && without_relax(name.text) == "make_closure" && peek(2).kind == TokenKind::Global) return closure_of(first);
  if (call && name.text == "Constant") return constant(first);
  if (name.text == "let" || name.text == "dataflow" || name.text == "def" || name.text == "else" ||
      name.text == "return")
    fail_here(fmt::format("expected an expression, found '{}'", name.text));
  take();
  if (name.text == "meta" && at("[")) {
    report(span_of(name),
           fmt::format("meta[...] names what lies outside of the text: {}", ops::instead_of("parser.MetaRef")), {},
           ErrorCode::Unsupported);
    while (accept("["))
      while (peek().kind != TokenKind::End && !accept("]")) take();
    return missing(span_of(name));
  }
  if (const ir::Op* op = ops::find(name.text)) return make<ir::OpExpr>(op, span_of(name));
  if (const std::string_view reason = ops::instead_of(name.text); !reason.empty()) {
    report(span_of(name), fmt::format("the operator {} is not there: {}", name.text, reason), {},
           ErrorCode::Unsupported);
    if (call) skip_brackets();
  } else if (call) {
    report(span_of(name), fmt::format("there is no operator {}", name.text), {}, ErrorCode::TypeError);
    skip_brackets();
  } else if (at("[") && !ends_graph_binding()) {
    refuse_type(name);
  } else {
    report(span_of(name), fmt::format("{} is neither a local variable nor an operator", name.text),
           fmt::format("a dimension in an expression is written prim({}), a local variable %{}", name.text, name.text),
           ErrorCode::TypeError);
  }
  return missing(span_of(name));
}

ir::Expr Parser::braces() {
  take();
  return block();
}

// A nested expression, a tuple, or bindings and their result.
ir::Expr Parser::parentheses() {
  const size_t first = at_;
  take();
  const Nesting nesting(*this);
  const LineMode lines(*this, false);
  if (at_word("let") || (peek().kind == TokenKind::Local && peek(1).is("="))) {
    Expr inner = statements(")");
    return inner;
  }
  std::vector<Expr> fields;
  bool tuple = at(")");
  while (!at(")")) {
    fields.push_back(expression());
    if (!accept(",")) break;
    tuple = true;
  }
  expect(")", "to close '('");
  if (!tuple && fields.size() == 1) return fields[0];
  return make<ir::Tuple>(std::move(fields), span_from(first));
}

ir::Expr Parser::conditional() {
  const Nesting nesting(*this);
  const size_t first = at_;
  take();
  Expr condition;
  {
    const LineMode lines(*this, false);
    expect("(", "before the condition of an if");
    condition = expression();
    expect(")", "after the condition of an if");
  }
  expect("{", "before the branch of an if");
  Expr then_branch = block();
  if (!accept_word("else"))
    fail_here("an if needs an else branch", "an if is an expression: both branches give its value");
  Expr else_branch;
  if (at_word("if")) {
    else_branch = conditional();
  } else {
    expect("{", "after 'else'");
    else_branch = block();
  }
  return make<ir::If>(condition, then_branch, else_branch, span_from(first));
}

}  // namespace ingot::text
