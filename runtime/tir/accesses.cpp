#include "runtime/tir/accesses.h"

#include <unordered_set>

namespace ingot::tir {
namespace {

class Collector {
 public:
  void statements(const std::vector<Stmt>& list) {
    for (const Stmt& stmt : list) std::visit([&](const auto& node) { statement(node); }, stmt->node);
  }

  std::vector<Access> accesses;
  std::vector<LetRef> lets;

 private:
  void access(BufferId buffer, const std::vector<PrimExpr>& indices, bool is_store) {
    accesses.push_back({buffer, indices, is_store, conditions_ != 0, loops_});
  }

  void expression(const ExprNode& node) {
    if (node.op == ExprOp::Load) access(node.buffer, node.indices, false);
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const bool branch = node.op == ExprOp::Select && i != 0;
      conditions_ += branch;
      expression(*node.operands[i]);
      conditions_ -= branch;
    }
  }

  void statement(const For& node) {
    loops_.push_back(&node);
    statements(node.body);
    loops_.pop_back();
  }
  void statement(const Let& node) {
    expression(*node.value);
    lets.push_back(node.var);
  }
  void statement(const If& node) {
    expression(*node.condition);
    ++conditions_;
    statements(node.then_body);
    statements(node.else_body);
    --conditions_;
  }
  void statement(const Store& node) {
    access(node.buffer, node.indices, true);
    expression(*node.value);
  }
  void statement(const Allocate&) {}

  std::vector<const For*> loops_;
  int conditions_ = 0;
};

}  // namespace

std::vector<Access> collect_accesses(const PrimFunc& func) {
  Collector collector;
  collector.statements(func.body);
  return std::move(collector.accesses);
}

FuncFacts::FuncFacts(const PrimFunc& func) {
  std::unordered_set<const SymVarNode*> dims;
  for (size_t i = 0; i < func.params; ++i)
    for (const PrimExpr& dim : func.buffers[i].dims)
      if (dim.op() == PrimOp::Var) dims.insert(dim.var().get());
  Collector collector;
  for (const Scalar& scalar : func.scalars) collector.lets.push_back(scalar.var);
  collector.statements(func.body);
  auto facts = std::make_shared<Assumptions>(Assumptions::dims());
  for (const LetRef& let : collector.lets)
    if (let->index && !dims.contains(let->index.get())) facts->bound(let->index, {INT64_MIN, INT64_MAX});
  entry_ = std::move(facts);
}

Assumptions FuncFacts::inside(std::span<const For* const> loops) const {
  Assumptions facts = Assumptions::extending(entry_);
  for (const For* loop : loops) facts.below(loop->var, loop->extent);
  return facts;
}

PrimExpr flat_index(std::span<const PrimExpr> indices, const Buffer& buffer) {
  PrimExpr flat = 0;
  for (size_t i = 0; i < indices.size(); ++i) flat = flat * buffer.dims[i] + indices[i];
  return flat;
}

}  // namespace ingot::tir
