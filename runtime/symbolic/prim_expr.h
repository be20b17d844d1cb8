#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ingot {

// What a PrimExpr node is. Comparisons and logic give 0 or 1. The numbers are part of the file format: append only.
enum class PrimOp : uint8_t {
  Const,
  Var,
  Add,
  Sub,
  Mul,
  FloorDiv,
  FloorMod,
  Min,
  Max,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  And,
  Or,
  Not,
  Select
};

// A symbolic variable: a dimension, a loop index, an int64 bound by let. Compared by identity; the name is for people.
struct SymVarNode {
  std::string name;
};
using SymVar = std::shared_ptr<const SymVarNode>;
SymVar make_sym_var(std::string name);

struct PrimExprNode;

// An integer expression over symbolic variables: the one description of sizes and indices in the compiler, the file,
// the loader, the planner and the kernels. Immutable and shared; copying copies a pointer. Never null, except for a
// default-constructed one that must be assigned before use.
//
// Value: mathematical integers, evaluated in int64 with overflow checks; FloorDiv and FloorMod round towards minus
// infinity. And, Or and Select evaluate from left to right and only what they need.
//
// Expressions are nested at most kMaxExprDepth deep and have at most kMaxExprNodes nodes (shared ones counted each
// time), so that walks may recurse: building more is Unsupported.
inline constexpr uint32_t kMaxExprDepth = 256;
inline constexpr uint32_t kMaxExprNodes = 4096;

class PrimExpr {
 public:
  PrimExpr() = default;
  PrimExpr(int64_t value);  // NOLINT: literals are expressions
  PrimExpr(SymVar var);     // NOLINT: variables are expressions

  // Builds a node as it stands, without simplification. The number of operands must fit the operator.
  static PrimExpr make(PrimOp op, std::vector<PrimExpr> operands);

  PrimOp op() const;
  int64_t value() const;      // of a Const
  const SymVar& var() const;  // of a Var
  std::span<const PrimExpr> operands() const;
  uint32_t depth() const;  // 1 for Const and Var
  uint32_t nodes() const;

  explicit operator bool() const { return node_ != nullptr; }
  std::optional<int64_t> as_const() const;
  bool is_const(int64_t value) const { return as_const() == value; }
  // Same node; structural equality is `same_expr`, equality of meaning is `prove_equal`.
  bool same_node(const PrimExpr& other) const { return node_ == other.node_; }
  const PrimExprNode* node() const { return node_.get(); }  // as a key

 private:
  std::shared_ptr<const PrimExprNode> node_;
};

struct PrimExprNode {
  PrimOp op;
  int64_t value = 0;
  SymVar var = {};
  std::vector<PrimExpr> operands = {};
  uint32_t depth = 1;
  uint32_t nodes = 1;
};

// How many operands a node of this kind has.
size_t operand_count(PrimOp op);

// Sugar that folds constants and neutral elements as it builds.
PrimExpr operator+(const PrimExpr& a, const PrimExpr& b);
PrimExpr operator-(const PrimExpr& a, const PrimExpr& b);
PrimExpr operator*(const PrimExpr& a, const PrimExpr& b);
PrimExpr floor_div(const PrimExpr& a, const PrimExpr& b);
PrimExpr floor_mod(const PrimExpr& a, const PrimExpr& b);
PrimExpr min(const PrimExpr& a, const PrimExpr& b);
PrimExpr max(const PrimExpr& a, const PrimExpr& b);

bool same_expr(const PrimExpr& a, const PrimExpr& b);

// "n * 4 + 1": the syntax of programs, with parentheses where precedence asks for them.
std::string to_text(const PrimExpr& expr);
// The same with names that the caller chooses, where those of the variables are not unique.
std::string to_text(const PrimExpr& expr, const std::function<std::string(const SymVar&)>& name);

// Calls `visit` for every variable that occurs, in order of first occurrence, once each.
void for_each_var(const PrimExpr& expr, const std::function<void(const SymVar&)>& visit);

// The value of a variable, or an expression for it; nullopt leaves the variable alone (substitute) or is an error
// (evaluate).
using Bindings = std::function<std::optional<int64_t>(const SymVar&)>;
using Substitution = std::function<std::optional<PrimExpr>(const SymVar&)>;

// Throws ShapeMismatch on overflow (naming the expression and the operands), DivisionByZero on a zero divisor, Internal
// on an unbound variable.
int64_t evaluate(const PrimExpr& expr, const Bindings& bindings);
PrimExpr substitute(const PrimExpr& expr, const Substitution& substitution);

}  // namespace ingot
