#include "compiler/analysis/normalize.h"

#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/graph_placement.h"

namespace ingot::analysis {
namespace {

using namespace ir;

// The bindings of one sequence while they are put together; neighbours of one kind share a block.
class Blocks {
 public:
  void add(bool dataflow, Binding binding) {
    if (blocks_.empty() || blocks_.back().dataflow != dataflow) blocks_.push_back({dataflow, {}});
    blocks_.back().bindings.push_back(std::move(binding));
  }
  std::vector<BindingBlock> take() { return std::move(blocks_); }
  void drop(const std::unordered_set<const Var*>& vars) {
    Blocks kept;
    for (auto& block : blocks_)
      for (auto& binding : block.bindings)
        if (!vars.contains(binding.var.get())) kept.add(block.dataflow, std::move(binding));
    blocks_ = kept.take();
  }

 private:
  std::vector<BindingBlock> blocks_;
};

class Normalizer {
 public:
  explicit Normalizer(const Function& f) : placement_(place_graph_bindings(f)) {}

  FunctionRef function(const Function& f) {
    auto made = std::make_shared<Function>(f.params, sequence(f.body, &f), f.result, f.pure, f.attrs, f.span);
    made->type_params = f.type_params;
    made->where = f.where;
    return made;
  }

 private:
  // `scope` names the sequence in the placement of graph bindings.
  Expr sequence(const Expr& e, const ExprNode* scope) {
    Blocks blocks;
    if (const auto found = placement_.moved_to.find(scope); found != placement_.moved_to.end())
      for (const Binding* moved : found->second) binding(*moved, blocks, false);
    Expr body = leaf(e, blocks, false);
    drop_resolved(blocks);
    auto made = std::make_shared<Seq>(blocks.take(), std::move(body), e->span);
    if (const auto* seq = as<Seq>(e)) made->result_span = seq->result_span;
    return made;
  }

  // A value that may stand behind a binding: itself a leaf, or built from leaves.
  Expr value(const Expr& e, Blocks& into, bool dataflow) {
    switch (e->kind) {
      case ExprKind::Seq:
        return value(flatten(*as<Seq>(e), into, dataflow), into, dataflow);
      case ExprKind::Tuple:
        return std::make_shared<Tuple>(leaves(as<Tuple>(e)->fields, into, dataflow), e->span);
      case ExprKind::Function:
        return function(*as<Function>(e));
      case ExprKind::If: {
        const auto& branch = *as<If>(e);
        Expr condition = leaf(branch.condition, into, dataflow);
        Expr then_branch = sequence(branch.then_branch, branch.then_branch.get());
        Expr else_branch = sequence(branch.else_branch, branch.else_branch.get());
        return std::make_shared<If>(std::move(condition), std::move(then_branch), std::move(else_branch), e->span,
                                    branch.sugar);
      }
      case ExprKind::Call: {
        const auto& call = *as<Call>(e);
        Expr callee = leaf(call.callee, into, dataflow);
        std::vector<Expr> args = leaves(call.args, into, dataflow);
        if (const auto* op = as<OpExpr>(callee); op != nullptr && is_foreign_call(op->op->name)) resolve(args);
        auto made = std::make_shared<Call>(std::move(callee), std::move(args), call.attrs, call.info_args, e->span);
        made->kernel = call.kernel;
        return made;
      }
      case ExprKind::TupleGetItem: {
        const auto& item = *as<TupleGetItem>(e);
        return std::make_shared<TupleGetItem>(leaf(item.tuple, into, dataflow), item.index, e->span);
      }
      default:
        if (const auto found = externs_.find(as<Var>(e)); found != externs_.end()) ++found->second.uses;
        return e;
    }
  }

  // The PackedFunc to call, where a variable that holds it is given.
  void resolve(std::vector<Expr>& args) {
    const auto found = args.empty() ? externs_.end() : externs_.find(as<Var>(args[0]));
    if (found == externs_.end()) return;
    args[0] = found->second.callee;
    --found->second.uses;
    resolved_.insert(found->first);
  }

  // Variables that stood for callees alone. One is used in the sequence that binds it or in one inside.
  void drop_resolved(Blocks& blocks) {
    std::erase_if(resolved_, [&](const Var* var) { return externs_.at(var).uses != 0; });
    if (!resolved_.empty()) blocks.drop(resolved_);
  }

  Expr leaf(const Expr& e, Blocks& into, bool dataflow) {
    Expr made = value(e, into, dataflow);
    if (is_leaf(made)) return made;
    const auto var = std::make_shared<const Var>("", nullptr, dataflow, made->span);
    into.add(dataflow, {var, std::move(made), nullptr, var->span});
    return var;
  }

  std::vector<Expr> leaves(const std::vector<Expr>& exprs, Blocks& into, bool dataflow) {
    std::vector<Expr> result;
    result.reserve(exprs.size());
    for (const auto& e : exprs) result.push_back(leaf(e, into, dataflow));
    return result;
  }

  // Adds the bindings of a sequence to the scope around it and gives its body.
  Expr flatten(const Seq& seq, Blocks& into, bool dataflow) {
    for (const auto& block : seq.blocks)
      for (const auto& b : block.bindings)
        if (!placement_.moved.contains(&b)) binding(b, into, dataflow || block.dataflow);
    return seq.body;
  }

  void binding(const Binding& b, Blocks& into, bool dataflow) {
    Binding made = b;
    made.graph = false;
    made.value = b.cast != nullptr ? leaf(b.value, into, dataflow) : value(b.value, into, dataflow);
    if (made.var != nullptr && made.var->annotation == nullptr && as<ExternFunc>(made.value) != nullptr)
      externs_.emplace(made.var.get(), Held{made.value});
    into.add(dataflow, std::move(made));
  }

  // A PackedFunc that a variable holds.
  struct Held {
    Expr callee;
    size_t uses = 0;  // that are left
  };

  GraphPlacement placement_;
  std::unordered_map<const Var*, Held> externs_;
  std::unordered_set<const Var*> resolved_;  // of them: those that calls had
};

}  // namespace

Module normalize(const Module& module) {
  Module result = module;
  for (const auto& definition : module.definitions()) {
    if (definition.function == nullptr) continue;
    Definition made = definition;
    made.function = Normalizer(*definition.function).function(*definition.function);
    result.set(std::move(made));
  }
  result.form = Form::Normal;
  return result;
}

}  // namespace ingot::analysis
