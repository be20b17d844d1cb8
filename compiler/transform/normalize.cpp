#include <unordered_map>

#include "compiler/ir/op.h"
#include "compiler/transform/transforms.h"

namespace ingot::transform {
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

 private:
  std::vector<BindingBlock> blocks_;
};

// Binds what is nested, depth first: the callee, then the arguments from left to right.
class Normalizer {
 public:
  FunctionRef function(const Function& f) {
    auto made = std::make_shared<Function>(f.params, sequence(f.body), f.result, f.pure, f.attrs, f.span);
    made->type_params = f.type_params;
    made->where = f.where;
    return made;
  }

 private:
  Expr sequence(const Expr& e) {
    Blocks blocks;
    Expr body = leaf(e, blocks, false);
    return std::make_shared<Seq>(blocks.take(), std::move(body), e->span);
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
        return std::make_shared<If>(std::move(condition), sequence(branch.then_branch), sequence(branch.else_branch),
                                    e->span, branch.sugar);
      }
      case ExprKind::Call: {
        const auto& call = *as<Call>(e);
        const bool named = as<OpExpr>(call.callee) != nullptr || as<ExternFunc>(call.callee) != nullptr;
        Expr callee = named ? call.callee : leaf(call.callee, into, dataflow);
        auto made = std::make_shared<Call>(std::move(callee), arguments(call, into, dataflow), call.attrs,
                                           call.info_args, e->span);
        made->kernel = call.kernel;
        return made;
      }
      case ExprKind::TupleGetItem: {
        const auto& item = *as<TupleGetItem>(e);
        return std::make_shared<TupleGetItem>(leaf(item.tuple, into, dataflow), item.index, e->span);
      }
      default:
        return e;
    }
  }

  // The PackedFunc that an operator calls by name stays an argument.
  std::vector<Expr> arguments(const Call& call, Blocks& into, bool dataflow) {
    std::vector<Expr> args;
    for (const auto& arg : call.args) {
      const bool named = args.empty() && as<OpExpr>(call.callee) != nullptr && as<ExternFunc>(arg) != nullptr;
      args.push_back(named ? arg : leaf(arg, into, dataflow));
    }
    return args;
  }

  Expr leaf(const Expr& e, Blocks& into, bool dataflow) {
    Expr made = value(e, into, dataflow);
    if (is_leaf(made) || as<OpExpr>(made) != nullptr) return made;
    const auto var = std::make_shared<Var>("t", nullptr, dataflow, e->span);
    into.add(dataflow, {var, std::move(made), nullptr, e->span});
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
      for (const auto& b : block.bindings) {
        const bool inner = dataflow || block.dataflow;
        Binding made = b;
        made.value = value(b.value, into, inner);
        made.graph = false;
        into.add(inner, std::move(made));
      }
    return seq.body;
  }
};

}  // namespace

Module normalize(Module module, PassContext&) {
  Module result = module;
  for (const auto& definition : module.definitions()) {
    if (definition.function == nullptr) continue;
    Definition made = definition;
    made.function = Normalizer().function(*definition.function);
    result.set(std::move(made));
  }
  result.form = Form::Normal;
  return result;
}

}  // namespace ingot::transform
