#include "compiler/analysis/free_vars.h"

#include <unordered_set>

namespace ingot::analysis {
namespace {

// Walks an expression once and collects what is used; what is bound inside is known before it is used, because a
// program is in scope order.
class Collector {
 public:
  explicit Collector(bool dims) : dims_(dims) {}

  std::vector<ir::VarRef> vars;
  std::vector<SymVar> sym_vars;

  void expr(const ir::Expr& e) {
    if (e == nullptr) return;
    switch (e->kind) {
      case ir::ExprKind::Var:
        use(std::static_pointer_cast<const ir::Var>(e));
        break;
      case ir::ExprKind::Tuple:
        for (const auto& field : ir::as<ir::Tuple>(e)->fields) expr(field);
        break;
      case ir::ExprKind::Seq:
        sequence(*ir::as<ir::Seq>(e));
        break;
      case ir::ExprKind::PrimValue:
        if (const auto* dim = std::get_if<PrimExpr>(&ir::as<ir::PrimValue>(e)->value)) use(*dim);
        break;
      case ir::ExprKind::Function:
        function(*ir::as<ir::Function>(e));
        break;
      case ir::ExprKind::If: {
        const auto& branch = *ir::as<ir::If>(e);
        expr(branch.condition);
        expr(branch.then_branch);
        expr(branch.else_branch);
        break;
      }
      case ir::ExprKind::ExternFunc:
        for (const auto& info : ir::as<ir::ExternFunc>(e)->results) use(info);
        break;
      case ir::ExprKind::Call: {
        const auto& call = *ir::as<ir::Call>(e);
        expr(call.callee);
        for (const auto& arg : call.args) expr(arg);
        for (const auto& info : call.info_args) use(info);
        break;
      }
      case ir::ExprKind::Shape:
        for (const auto& dim : ir::as<ir::Shape>(e)->dims) use(dim);
        break;
      case ir::ExprKind::TupleGetItem:
        expr(ir::as<ir::TupleGetItem>(e)->tuple);
        break;
      case ir::ExprKind::Constant:
      case ir::ExprKind::GlobalVar:
      case ir::ExprKind::String:
      case ir::ExprKind::DataType:
      case ir::ExprKind::NullValue:
      case ir::ExprKind::Op:
        break;
    }
  }

 private:
  void function(const ir::Function& f) {
    for (const auto& param : f.params) {
      bound_.insert(param.get());
      use(param->annotation);
      use(param->info);
    }
    expr(f.body);
    use(f.result);
  }

  void sequence(const ir::Seq& seq) {
    for (const auto& block : seq.blocks)
      for (const auto& binding : block.bindings) {
        // A function may refer to the variable that it is bound to.
        if (ir::as<ir::Function>(binding.value) != nullptr && binding.var != nullptr) bound_.insert(binding.var.get());
        expr(binding.value);
        use(binding.cast);
        if (binding.var != nullptr) {
          bound_.insert(binding.var.get());
          use(binding.var->annotation);
          use(binding.var->info);
        }
      }
    expr(seq.body);
  }

  void use(const ir::VarRef& var) {
    if (!bound_.contains(var.get()) && seen_.insert(var.get()).second) vars.push_back(var);
  }
  void use(const SymVar& var) {
    if (seen_sym_.insert(var.get()).second) sym_vars.push_back(var);
  }
  void use(const PrimExpr& dim) {
    if (dims_) for_each_var(dim, [&](const SymVar& var) { use(var); });
  }
  void use(const StructInfo& info) {
    if (dims_ && info != nullptr) for_each_var(info, [&](const SymVar& var) { use(var); });
  }

  const bool dims_;  // are symbolic variables asked for?
  std::unordered_set<const ir::Var*> bound_, seen_;
  std::unordered_set<const SymVarNode*> seen_sym_;
};

}  // namespace

std::vector<ir::VarRef> free_vars(const ir::Expr& expr) {
  Collector collector(false);
  collector.expr(expr);
  return std::move(collector.vars);
}

std::vector<SymVar> mentioned_sym_vars(const ir::Expr& expr) {
  Collector collector(true);
  collector.expr(expr);
  return std::move(collector.sym_vars);
}

}  // namespace ingot::analysis
