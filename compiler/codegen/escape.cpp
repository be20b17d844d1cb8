#include "compiler/codegen/escape.h"

#include "compiler/ir/op.h"

namespace ingot::codegen {
namespace {

using namespace ir;

// Goes backwards, so that what becomes of a view or an alias is known before its source is reached.
class Walk {
 public:
  explicit Walk(bool callees_write) : callees_write_(callees_write) {}

  std::unordered_set<const Var*> escaping;

  void sequence(const Seq& seq, bool tail) {
    leaf(seq.body);
    const Binding* last = nullptr;
    for (auto block = seq.blocks.rbegin(); block != seq.blocks.rend(); ++block)
      for (auto binding = block->bindings.rbegin(); binding != block->bindings.rend(); ++binding) {
        const bool is_tail =
            tail && last == nullptr && binding->cast == nullptr && binding->var.get() == as<Var>(seq.body);
        last = &*binding;
        value(binding->value, binding->var.get(), is_tail);
      }
  }

 private:
  void leaf(const Expr& e) {
    if (const auto* var = as<Var>(e)) escaping.insert(var);
    if (const auto* tuple = as<Tuple>(e))
      for (const auto& field : tuple->fields) leaf(field);
  }

  void value(const Expr& e, const Var* bound, bool tail) {
    switch (e->kind) {
      case ExprKind::Var:
        if (bound != nullptr && escaping.contains(bound)) escaping.insert(as<Var>(e));
        break;
      case ExprKind::Tuple:
        leaf(e);
        break;
      case ExprKind::If:
        sequence(*as<Seq>(as<If>(e)->then_branch), tail);
        sequence(*as<Seq>(as<If>(e)->else_branch), tail);
        break;
      case ExprKind::Call:
        call(*as<Call>(e), bound, tail);
        break;
      default:
        break;
    }
  }

  void call(const Call& call, const Var* bound, bool tail) {
    if (const auto* op = as<OpExpr>(call.callee)) {
      const auto name = op->op->name;
      if (name == "call_tir" || name == "call_kernel" || !op->op->scalar_instruction.empty()) return;
      if (name == "view" && (bound == nullptr || !escaping.contains(bound))) return;
    } else if (as<ExternFunc>(call.callee) == nullptr && !tail && !callees_write_) {
      return;
    }
    for (const auto& arg : call.args) leaf(arg);
  }

  bool callees_write_;
};

}  // namespace

std::unordered_set<const Var*> find_escaping(const Function& function, bool callees_write) {
  Walk walk(callees_write);
  walk.sequence(*as<Seq>(function.body), true);
  return std::move(walk.escaping);
}

}  // namespace ingot::codegen
