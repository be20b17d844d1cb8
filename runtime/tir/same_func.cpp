#include "runtime/tir/same_func.h"

#include <algorithm>
#include <unordered_map>

namespace ingot::tir {
namespace {

// Walks two functions side by side; whatever is named is paired with its counterpart at first sight.
class Comparison {
 public:
  bool functions(const PrimFunc& a, const PrimFunc& b) {
    if (a.name != b.name || a.params != b.params || a.outputs != b.outputs || a.buffers.size() != b.buffers.size() ||
        a.scalars.size() != b.scalars.size())
      return false;
    a_ = &a;
    b_ = &b;
    for (size_t i = 0; i < a.scalars.size(); ++i)
      if (!pair(a.scalars[i].var, b.scalars[i].var)) return false;
    for (BufferId i = 0; i < a.params; ++i)
      if (!buffers(i, i)) return false;
    return bodies(a.body, b.body);
  }

 private:
  template <typename T>
  bool pair_up(std::unordered_map<const T*, const T*>& forward, std::unordered_map<const T*, const T*>& backward,
               const T* a, const T* b) {
    return forward.try_emplace(a, b).first->second == b && backward.try_emplace(b, a).first->second == a;
  }
  bool pair(const SymVar& a, const SymVar& b) { return pair_up(vars_, back_vars_, a.get(), b.get()); }
  bool pair(const LetRef& a, const LetRef& b) {
    if (a->dtype != b->dtype || (a->index == nullptr) != (b->index == nullptr)) return false;
    return pair_up(lets_, back_lets_, a.get(), b.get()) && (!a->index || pair(a->index, b->index));
  }

  bool buffers(BufferId a, BufferId b) {
    const auto [found, added] = buffers_.try_emplace(a, b);
    if (found->second != b) return false;
    if (!added) return true;
    return back_buffers_.try_emplace(b, a).first->second == a && a_->buffers[a].dtype == b_->buffers[b].dtype &&
           indices(a_->buffers[a].dims, b_->buffers[b].dims);
  }

  bool symbolic(const PrimExpr& a, const PrimExpr& b) {
    if (a.op() != b.op() || a.value() != b.value()) return false;
    if (a.op() == PrimOp::Var) return pair(a.var(), b.var());
    return std::ranges::equal(a.operands(), b.operands(),
                              [&](const PrimExpr& x, const PrimExpr& y) { return symbolic(x, y); });
  }
  bool indices(const std::vector<PrimExpr>& a, const std::vector<PrimExpr>& b) {
    return std::ranges::equal(a, b, [&](const PrimExpr& x, const PrimExpr& y) { return symbolic(x, y); });
  }

  bool expressions(const Expr& a, const Expr& b) {
    if (a->op != b->op || a->dtype != b->dtype || a->bits != b->bits) return false;
    if (a->op == ExprOp::Index && !symbolic(a->index, b->index)) return false;
    if (a->op == ExprOp::Let && !pair(a->let, b->let)) return false;
    if (a->op == ExprOp::Load && !(buffers(a->buffer, b->buffer) && indices(a->indices, b->indices))) return false;
    return std::ranges::equal(a->operands, b->operands,
                              [&](const Expr& x, const Expr& y) { return expressions(x, y); });
  }

  bool bodies(const std::vector<Stmt>& a, const std::vector<Stmt>& b) {
    return std::ranges::equal(a, b, [&](const Stmt& x, const Stmt& y) {
      if (x->node.index() != y->node.index()) return false;
      return std::visit([&]<typename T>(const T& node) { return same(node, std::get<T>(y->node)); }, x->node);
    });
  }
  bool same(const For& a, const For& b) {
    return a.kind == b.kind && symbolic(a.extent, b.extent) && pair(a.var, b.var) && bodies(a.body, b.body);
  }
  bool same(const Let& a, const Let& b) { return expressions(a.value, b.value) && pair(a.var, b.var); }
  bool same(const If& a, const If& b) {
    return expressions(a.condition, b.condition) && bodies(a.then_body, b.then_body) &&
           bodies(a.else_body, b.else_body);
  }
  bool same(const Store& a, const Store& b) {
    return buffers(a.buffer, b.buffer) && indices(a.indices, b.indices) && expressions(a.value, b.value);
  }
  bool same(const Allocate& a, const Allocate& b) { return buffers(a.buffer, b.buffer); }

  const PrimFunc* a_ = nullptr;
  const PrimFunc* b_ = nullptr;
  std::unordered_map<const SymVarNode*, const SymVarNode*> vars_, back_vars_;
  std::unordered_map<const LetVar*, const LetVar*> lets_, back_lets_;
  std::unordered_map<BufferId, BufferId> buffers_, back_buffers_;
};

// What does not depend on names, in the order of the text.
class Hash {
 public:
  size_t function(const PrimFunc& func) {
    mix(std::hash<std::string>()(func.name));
    mix(func.params);
    mix(func.outputs);
    mix(func.scalars.size());
    for (BufferId i = 0; i < func.params; ++i) {
      mix(static_cast<size_t>(func.buffers[i].dtype));
      indices(func.buffers[i].dims);
    }
    body(func.body);
    return value_;
  }

 private:
  void mix(size_t value) { value_ = (value_ ^ value) * 0x9E3779B97F4A7C15u + (value_ >> 29); }

  void symbolic(const PrimExpr& e) {
    mix(static_cast<size_t>(e.op()));
    mix(static_cast<size_t>(e.value()));
    for (const auto& operand : e.operands()) symbolic(operand);
  }
  void indices(const std::vector<PrimExpr>& list) {
    mix(list.size());
    for (const auto& e : list) symbolic(e);
  }
  void expression(const Expr& e) {
    mix(static_cast<size_t>(e->op));
    mix(static_cast<size_t>(e->dtype));
    mix(static_cast<size_t>(e->bits));
    if (e->op == ExprOp::Index) symbolic(e->index);
    if (e->op == ExprOp::Load) indices(e->indices);
    for (const auto& operand : e->operands) expression(operand);
  }
  void body(const std::vector<Stmt>& list) {
    mix(list.size());
    for (const auto& stmt : list) {
      mix(stmt->node.index());
      std::visit([this](const auto& node) { statement(node); }, stmt->node);
    }
  }
  void statement(const For& node) {
    mix(static_cast<size_t>(node.kind));
    symbolic(node.extent);
    body(node.body);
  }
  void statement(const Let& node) { expression(node.value); }
  void statement(const If& node) {
    expression(node.condition);
    body(node.then_body);
    body(node.else_body);
  }
  void statement(const Store& node) {
    indices(node.indices);
    expression(node.value);
  }
  void statement(const Allocate&) {}

  size_t value_ = 0;
};

}  // namespace

bool same_func(const PrimFunc& a, const PrimFunc& b) { return Comparison().functions(a, b); }

size_t hash_func(const PrimFunc& func) { return Hash().function(func); }

}  // namespace ingot::tir
