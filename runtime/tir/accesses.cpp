#include "runtime/tir/accesses.h"

#include <unordered_set>

#include "runtime/tir/expr_ops.h"

namespace ingot::tir {
namespace {

class Collector {
 public:
  explicit Collector(bool wants_accesses) : wants_accesses_(wants_accesses) {}

  void statements(const std::vector<Stmt>& list) {
    for (const Stmt& stmt : list) std::visit([&](const auto& node) { statement(node); }, stmt->node);
  }

  std::vector<Access> accesses;
  std::vector<LetRef> lets;

 private:
  void access(BufferId buffer, const std::vector<PrimExpr>& indices, bool is_store) {
    if (wants_accesses_) accesses.push_back({buffer, indices, is_store, loops_, decisions_});
  }

  void value(const ExprNode& node) {
    if (wants_accesses_) expression(node);
  }

  void expression(const ExprNode& node) {
    if (node.op == ExprOp::Load) access(node.buffer, node.indices, false);
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const bool branch = node.op == ExprOp::Select && i != 0;
      if (branch) decisions_.push_back({node.operands[0].get(), i == 1});
      expression(*node.operands[i]);
      if (branch) decisions_.pop_back();
    }
  }

  void statement(const For& node) {
    loops_.push_back(&node);
    statements(node.body);
    loops_.pop_back();
  }
  void statement(const Let& node) {
    value(*node.value);
    lets.push_back(node.var);
  }
  void statement(const If& node) {
    value(*node.condition);
    decisions_.push_back({node.condition.get(), true});
    statements(node.then_body);
    decisions_.back().value = false;
    statements(node.else_body);
    decisions_.pop_back();
  }
  void statement(const Store& node) {
    access(node.buffer, node.indices, true);
    value(*node.value);
  }
  void statement(const Allocate&) {}

  bool wants_accesses_;
  std::vector<const For*> loops_;
  std::vector<Decision> decisions_;
};

// The symbolic value of an int64 operand of a comparison; null where it has none.
PrimExpr symbolic_value(const ExprNode& node) {
  if (node.dtype != DType::Int64) return {};
  if (node.op == ExprOp::Index) return node.index;
  if (node.op == ExprOp::Const) return static_cast<int64_t>(node.bits);
  return node.op == ExprOp::Let ? PrimExpr(node.let->index) : PrimExpr();
}

// States what follows from `condition` having been decided.
void assume(const ExprNode& condition, bool value, Assumptions& facts) {
  switch (condition.op) {
    case ExprOp::Not:
      return assume(*condition.operands[0], !value, facts);
    case ExprOp::And:
    case ExprOp::Or:
      if (value != (condition.op == ExprOp::And)) return;
      assume(*condition.operands[0], value, facts);
      return assume(*condition.operands[1], value, facts);
    default:
      break;
  }
  if (expr_op_info(condition.op).operands != Operands::Comparison) return;
  const PrimExpr a = symbolic_value(*condition.operands[0]);
  const PrimExpr b = symbolic_value(*condition.operands[1]);
  if (!a || !b) return;
  const bool equal = condition.op == (value ? ExprOp::Equal : ExprOp::NotEqual);
  const bool less = condition.op == (value ? ExprOp::Less : ExprOp::GreaterEqual);
  const bool less_equal = condition.op == (value ? ExprOp::LessEqual : ExprOp::Greater);
  const bool greater = condition.op == (value ? ExprOp::Greater : ExprOp::LessEqual);
  const bool greater_equal = condition.op == (value ? ExprOp::GreaterEqual : ExprOp::Less);
  if (less) facts.nonnegative(b - a - 1);
  if (less_equal || equal) facts.nonnegative(b - a);
  if (greater) facts.nonnegative(a - b - 1);
  if (greater_equal || equal) facts.nonnegative(a - b);
}

}  // namespace

std::vector<Access> collect_accesses(const PrimFunc& func) {
  Collector collector(true);
  collector.statements(func.body);
  return std::move(collector.accesses);
}

FuncFacts::FuncFacts(const PrimFunc& func, std::span<const SymVar> positive) {
  std::unordered_set<const SymVarNode*> dims;
  for (size_t i = 0; i < func.params; ++i)
    for (const PrimExpr& dim : func.buffers[i].dims)
      if (dim.op() == PrimOp::Var) dims.insert(dim.var().get());
  Collector collector(false);
  for (const Scalar& scalar : func.scalars) collector.lets.push_back(scalar.var);
  collector.statements(func.body);
  auto facts = std::make_shared<Assumptions>(Assumptions::dims());
  for (const LetRef& let : collector.lets)
    if (let->index && !dims.contains(let->index.get())) facts->bound(let->index, {INT64_MIN, INT64_MAX});
  for (const SymVar& dim : positive) facts->bound(dim, {1, INT64_MAX});
  entry_ = std::move(facts);
}

Assumptions FuncFacts::inside(std::span<const For* const> loops) const {
  Assumptions facts = Assumptions::extending(entry_);
  for (const For* loop : loops) facts.below(loop->var, loop->extent);
  return facts;
}

Assumptions FuncFacts::at(const Access& access) const {
  Assumptions facts = inside(access.loops);
  for (const Decision& decision : access.decisions) assume(*decision.condition, decision.value, facts);
  return facts;
}

PrimExpr flat_index(std::span<const PrimExpr> indices, const Buffer& buffer) {
  PrimExpr flat = 0;
  for (size_t i = 0; i < indices.size(); ++i) flat = flat * buffer.dims[i] + indices[i];
  return flat;
}

}  // namespace ingot::tir
