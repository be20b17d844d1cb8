#include "runtime/symbolic/prim_expr.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/base/error.h"
#include "runtime/symbolic/apply.h"

namespace ingot {
namespace {

const PrimExprNode& checked_node(const std::shared_ptr<const PrimExprNode>& node) {
  if (!node) fail(ErrorCode::Internal, "a PrimExpr without a value was read");
  return *node;
}

std::optional<int64_t> fold(PrimOp op, const PrimExpr& a, const PrimExpr& b) {
  const auto x = a.as_const();
  const auto y = b.as_const();
  return x && y ? apply(op, *x, *y) : std::nullopt;
}

class Evaluator {
 public:
  explicit Evaluator(const Bindings& bindings) : bindings_(bindings) {}

  int64_t operator()(const PrimExpr& expr) const {
    const auto operand = [&](size_t i) { return (*this)(expr.operands()[i]); };
    switch (expr.op()) {
      case PrimOp::Const:
        return expr.value();
      case PrimOp::Var: {
        const auto value = bindings_(expr.var());
        if (!value) fail(ErrorCode::Internal, "the symbolic variable {} has no value", expr.var()->name);
        return *value;
      }
      case PrimOp::And:
        return operand(0) != 0 && operand(1) != 0;
      case PrimOp::Or:
        return operand(0) != 0 || operand(1) != 0;
      case PrimOp::Not:
        return operand(0) == 0;
      case PrimOp::Select:
        return operand(0) != 0 ? operand(1) : operand(2);
      default:
        break;
    }
    const int64_t a = operand(0);
    const int64_t b = operand(1);
    if (const auto value = fold(expr.op(), a, b)) return *value;
    if (b == 0 && (expr.op() == PrimOp::FloorDiv || expr.op() == PrimOp::FloorMod))
      fail(ErrorCode::DivisionByZero, "{} divides {} by 0", to_text(expr), a);
    fail(ErrorCode::ShapeMismatch, "{} overflows int64 with the operands {} and {}", to_text(expr), a, b);
  }

 private:
  const Bindings& bindings_;
};

struct Spelling {
  const char* text;
  int precedence;  // 0: a function
};

Spelling spelling(PrimOp op) {
  switch (op) {
    case PrimOp::Or:
      return {" || ", 1};
    case PrimOp::And:
      return {" && ", 2};
    case PrimOp::Equal:
      return {" == ", 3};
    case PrimOp::NotEqual:
      return {" != ", 3};
    case PrimOp::Less:
      return {" < ", 4};
    case PrimOp::LessEqual:
      return {" <= ", 4};
    case PrimOp::Add:
      return {" + ", 5};
    case PrimOp::Sub:
      return {" - ", 5};
    case PrimOp::Mul:
      return {" * ", 6};
    case PrimOp::FloorDiv:
      return {" / ", 6};
    case PrimOp::FloorMod:
      return {" % ", 6};
    case PrimOp::Min:
      return {"min", 0};
    case PrimOp::Max:
      return {"max", 0};
    case PrimOp::Select:
      return {"select", 0};
    default:
      return {"", 0};
  }
}

constexpr int kUnaryPrecedence = 7;

class Printer {
 public:
  explicit Printer(const std::function<std::string(const SymVar&)>& name) : name_(name) {}

  // In parentheses where an operator of less than `least` precedence would be torn apart.
  void print(const PrimExpr& expr, int least) {
    switch (expr.op()) {
      case PrimOp::Const:
        print_const(expr.value(), least);
        return;
      case PrimOp::Var:
        text += name_(expr.var());
        return;
      case PrimOp::Not:
        text += "!";
        print(expr.operands()[0], kUnaryPrecedence);
        return;
      default:
        break;
    }
    const Spelling how = spelling(expr.op());
    if (how.precedence == 0) {
      text += how.text;
      text += "(";
      for (size_t i = 0; i < expr.operands().size(); ++i) {
        if (i != 0) text += ", ";
        print(expr.operands()[i], 0);
      }
      text += ")";
      return;
    }
    const bool parentheses = how.precedence < least;
    if (parentheses) text += "(";
    print(expr.operands()[0], how.precedence);
    text += how.text;
    print(expr.operands()[1], how.precedence + 1);
    if (parentheses) text += ")";
  }

  std::string text;

 private:
  void print_const(int64_t value, int least) {
    const bool parentheses = value < 0 && least > kUnaryPrecedence;
    text += parentheses ? fmt::format("({})", value) : fmt::format("{}", value);
  }

  const std::function<std::string(const SymVar&)>& name_;
};

void visit_vars(const PrimExpr& expr, std::unordered_set<const SymVarNode*>& seen,
                const std::function<void(const SymVar&)>& visit) {
  if (expr.op() == PrimOp::Var && seen.insert(expr.var().get()).second) visit(expr.var());
  for (const PrimExpr& operand : expr.operands()) visit_vars(operand, seen, visit);
}

}  // namespace

SymVar make_sym_var(std::string name) { return std::make_shared<const SymVarNode>(SymVarNode{std::move(name)}); }

PrimExpr::PrimExpr(int64_t value)
    : node_(std::make_shared<const PrimExprNode>(PrimExprNode{.op = PrimOp::Const, .value = value})) {}

PrimExpr::PrimExpr(SymVar var) {
  if (!var) fail(ErrorCode::Internal, "a symbolic variable is null");
  node_ = std::make_shared<const PrimExprNode>(PrimExprNode{.op = PrimOp::Var, .var = std::move(var)});
}

PrimExpr PrimExpr::make(PrimOp op, std::vector<PrimExpr> operands) {
  if (operand_count(op) == 0 || operands.size() != operand_count(op))
    fail(ErrorCode::Internal, "a PrimExpr of kind {} cannot have {} operands", static_cast<int>(op), operands.size());
  uint32_t depth = 0;
  uint64_t nodes = 1;
  for (const PrimExpr& operand : operands) {
    depth = std::max(depth, operand.depth());
    nodes += operand.nodes();
  }
  if (depth >= kMaxExprDepth)
    fail(ErrorCode::Unsupported, "a symbolic expression is nested deeper than {}", kMaxExprDepth);
  if (nodes > kMaxExprNodes)
    fail(ErrorCode::Unsupported, "a symbolic expression has more than {} nodes", kMaxExprNodes);
  PrimExpr expr;
  expr.node_ = std::make_shared<const PrimExprNode>(PrimExprNode{
      .op = op, .operands = std::move(operands), .depth = depth + 1, .nodes = static_cast<uint32_t>(nodes)});
  return expr;
}

PrimOp PrimExpr::op() const { return checked_node(node_).op; }
int64_t PrimExpr::value() const { return checked_node(node_).value; }
const SymVar& PrimExpr::var() const { return checked_node(node_).var; }
std::span<const PrimExpr> PrimExpr::operands() const { return checked_node(node_).operands; }
uint32_t PrimExpr::depth() const { return checked_node(node_).depth; }
uint32_t PrimExpr::nodes() const { return checked_node(node_).nodes; }

std::optional<int64_t> PrimExpr::as_const() const {
  return op() == PrimOp::Const ? std::optional(value()) : std::nullopt;
}

size_t operand_count(PrimOp op) {
  switch (op) {
    case PrimOp::Const:
    case PrimOp::Var:
      return 0;
    case PrimOp::Not:
      return 1;
    case PrimOp::Select:
      return 3;
    default:
      return 2;
  }
}

PrimExpr operator+(const PrimExpr& a, const PrimExpr& b) {
  if (a.is_const(0)) return b;
  if (b.is_const(0)) return a;
  if (const auto value = fold(PrimOp::Add, a, b)) return *value;
  return PrimExpr::make(PrimOp::Add, {a, b});
}

PrimExpr operator-(const PrimExpr& a, const PrimExpr& b) {
  if (b.is_const(0)) return a;
  if (const auto value = fold(PrimOp::Sub, a, b)) return *value;
  return PrimExpr::make(PrimOp::Sub, {a, b});
}

PrimExpr operator*(const PrimExpr& a, const PrimExpr& b) {
  if (a.is_const(0) || b.is_const(1)) return a;
  if (b.is_const(0) || a.is_const(1)) return b;
  if (const auto value = fold(PrimOp::Mul, a, b)) return *value;
  return PrimExpr::make(PrimOp::Mul, {a, b});
}

PrimExpr floor_div(const PrimExpr& a, const PrimExpr& b) {
  if (b.is_const(1)) return a;
  if (const auto value = fold(PrimOp::FloorDiv, a, b)) return *value;
  return PrimExpr::make(PrimOp::FloorDiv, {a, b});
}

PrimExpr floor_mod(const PrimExpr& a, const PrimExpr& b) {
  if (b.is_const(1)) return 0;
  if (const auto value = fold(PrimOp::FloorMod, a, b)) return *value;
  return PrimExpr::make(PrimOp::FloorMod, {a, b});
}

PrimExpr min(const PrimExpr& a, const PrimExpr& b) {
  if (a.same_node(b)) return a;
  if (const auto value = fold(PrimOp::Min, a, b)) return *value;
  return PrimExpr::make(PrimOp::Min, {a, b});
}

PrimExpr max(const PrimExpr& a, const PrimExpr& b) {
  if (a.same_node(b)) return a;
  if (const auto value = fold(PrimOp::Max, a, b)) return *value;
  return PrimExpr::make(PrimOp::Max, {a, b});
}

bool same_expr(const PrimExpr& a, const PrimExpr& b) {
  if (a.same_node(b)) return true;
  if (!a || !b || a.op() != b.op() || a.value() != b.value() || a.var() != b.var() || a.nodes() != b.nodes())
    return false;
  return std::equal(a.operands().begin(), a.operands().end(), b.operands().begin(), b.operands().end(), same_expr);
}

std::string to_text(const PrimExpr& expr) {
  return to_text(expr, [](const SymVar& var) { return var->name; });
}

std::string to_text(const PrimExpr& expr, const std::function<std::string(const SymVar&)>& name) {
  Printer printer(name);
  printer.print(expr, 0);
  return std::move(printer.text);
}

void for_each_var(const PrimExpr& expr, const std::function<void(const SymVar&)>& visit) {
  std::unordered_set<const SymVarNode*> seen;
  visit_vars(expr, seen, visit);
}

int64_t evaluate(const PrimExpr& expr, const Bindings& bindings) { return Evaluator(bindings)(expr); }

PrimExpr substitute(const PrimExpr& expr, const Substitution& substitution) {
  if (expr.op() == PrimOp::Var) {
    auto replacement = substitution(expr.var());
    return replacement ? std::move(*replacement) : expr;
  }
  std::vector<PrimExpr> operands;
  bool changed = false;
  operands.reserve(expr.operands().size());
  for (const PrimExpr& operand : expr.operands()) {
    operands.push_back(substitute(operand, substitution));
    changed |= !operands.back().same_node(operand);
  }
  return changed ? PrimExpr::make(expr.op(), std::move(operands)) : expr;
}

}  // namespace ingot
