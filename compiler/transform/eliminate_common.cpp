#include <algorithm>
#include <functional>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/scope_log.h"
#include "compiler/analysis/writes.h"
#include "compiler/ir/structural_equal.h"
#include "compiler/ir/visitor.h"
#include "compiler/transform/sequences.h"
#include "compiler/transform/transforms.h"
#include "runtime/symbolic/simplify.h"

namespace ingot::transform {
namespace {

using namespace ir;

void mix(size_t& hash, size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); }

void mix_operand(size_t& hash, const Expr& e) {
  mix(hash, static_cast<size_t>(e->kind));
  if (const auto* var = as<Var>(e)) mix(hash, std::hash<const Var*>()(var));
  if (const auto* tuple = as<Tuple>(e))
    for (const Expr& field : tuple->fields) mix_operand(hash, field);
  if (const auto* constant = as<Constant>(e))
    for (size_t i = 0; i < std::min<size_t>(constant->data->bytes, 16); ++i)
      mix(hash, static_cast<size_t>(constant->data->data[i]));
}

size_t hash_of(const AttrValue& value) {
  return std::visit(
      []<typename T>(const T& v) {
        if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>>) {
          size_t hash = v.size();
          for (const auto& element : v) mix(hash, std::hash<typename T::value_type>()(element));
          return hash;
        } else {
          return std::hash<T>()(v);
        }
      },
      value);
}

bool same_operand(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case ExprKind::Tuple:
      return std::ranges::equal(as<Tuple>(a)->fields, as<Tuple>(b)->fields, same_operand);
    case ExprKind::Shape:
      return std::ranges::equal(as<Shape>(a)->dims, as<Shape>(b)->dims,
                                [](const PrimExpr& x, const PrimExpr& y) { return prove_equal(x, y) == Proof::Yes; });
    case ExprKind::Constant:
    case ExprKind::GlobalVar:
    case ExprKind::String:
    case ExprKind::DataType:
    case ExprKind::NullValue:
      return structurally_equal(a, b);
    default:
      return false;
  }
}

bool reads_variable(const Expr& e) {
  const auto* tuple = as<Tuple>(e);
  return as<Var>(e) != nullptr || (tuple != nullptr && std::ranges::any_of(tuple->fields, reads_variable));
}

// Projections, and operators on values that were computed. New tensors such as zeros cost less where they are used.
bool is_candidate(const Binding& binding) {
  if (binding.var->annotation != nullptr || binding.var->shape_symbol) return false;
  const auto* call = called_op(binding.value) != nullptr ? as<Call>(binding.value) : nullptr;
  const bool computes =
      call != nullptr ? std::ranges::any_of(call->args, reads_variable) : as<TupleGetItem>(binding.value) != nullptr;
  return computes && analysis::effect_of(binding) == Effect::Total;
}

size_t hash_of(const Expr& value) {
  size_t hash = 0;
  if (const auto* item = as<TupleGetItem>(value)) {
    mix(hash, item->index);
    mix_operand(hash, item->tuple);
    return hash;
  }
  mix(hash, std::hash<const Op*>()(called_op(value)));
  const auto& call = *as<Call>(value);
  for (const Expr& arg : call.args) mix_operand(hash, arg);
  for (const auto& [name, attr] : call.attrs) mix(hash, hash_of(attr));
  return hash;
}

bool same_value(const Expr& a, const Expr& b) {
  if (a->kind != b->kind || !same_info(a->info, b->info)) return false;
  if (const auto* item = as<TupleGetItem>(a)) {
    const auto* other = as<TupleGetItem>(b);
    return item->index == other->index && same_operand(item->tuple, other->tuple);
  }
  const auto& x = *as<Call>(a);
  const auto& y = *as<Call>(b);
  return called_op(a) == called_op(b) && x.attrs == y.attrs && x.kernel == y.kernel &&
         std::ranges::equal(x.args, y.args, same_operand) && std::ranges::equal(x.info_args, y.info_args, same_info);
}

// One function, from the front: what is in scope is known, and uses of what is dropped are replaced.
class Eliminator {
 public:
  explicit Eliminator(const analysis::Writes& writes) : writes_(&writes) {}

  Expr expr(const Expr& e) {
    if (const auto* var = as<Var>(e)) {
      const auto found = replaced_.find(var);
      return found == replaced_.end() ? e : Expr(found->second);
    }
    if (const auto* seq = as<Seq>(e)) return sequence(*seq, e);
    if (e->kind != ExprKind::Function) return map_children(e, [this](const Expr& child) { return expr(child); });
    // What is outside of a function would have to be captured.
    auto outer = std::exchange(known_, {});
    Expr made = map_children(e, [this](const Expr& child) { return expr(child); });
    known_ = std::move(outer);
    return made;
  }

 private:
  // Those of one hash, the newest first.
  struct Candidate {
    VarRef var;
    Expr value;
    std::shared_ptr<const Candidate> older;
    size_t count;
  };
  using Known = analysis::ScopeLog<size_t, std::shared_ptr<const Candidate>>;
  static constexpr size_t kMaxAlike = 64;

  Expr sequence(const Seq& seq, const Expr& whole) {
    const auto outer = known_.mark();
    std::vector<BindingBlock> blocks = seq.blocks;
    for (BindingBlock& block : blocks) {
      const auto before = known_.mark();
      std::erase_if(block.bindings, [this](Binding& binding) {
        binding.value = expr(binding.value);
        // Nobody may tell one tensor from the other by writing to it.
        return is_candidate(binding) && writes_->is_out_of_reach(*binding.var) && replace(binding);
      });
      // Variables of a dataflow block cannot be used behind it.
      if (block.dataflow) known_.leave(before);
    }
    Expr body = expr(seq.body);
    known_.leave(outer);
    std::erase_if(blocks, [](const BindingBlock& block) { return block.bindings.empty(); });
    return typed(std::make_shared<Seq>(std::move(blocks), std::move(body), whole->span), whole->info);
  }

  // By a variable in scope that has the value already; otherwise the binding is remembered.
  bool replace(const Binding& binding) {
    const size_t hash = hash_of(binding.value);
    const auto* found = known_.find(hash);
    const auto newest = found == nullptr ? nullptr : *found;
    for (const Candidate* candidate = newest.get(); candidate != nullptr; candidate = candidate->older.get()) {
      if (!same_value(candidate->value, binding.value)) continue;
      // An output of a dataflow block is used outside, where its inner variables are not in scope.
      if (candidate->var->dataflow && !binding.var->dataflow) return false;
      replaced_.emplace(binding.var.get(), candidate->var);
      return true;
    }
    const size_t count = newest == nullptr ? 1 : newest->count + 1;
    if (count <= kMaxAlike)
      known_.set(hash, std::make_shared<const Candidate>(Candidate{binding.var, binding.value, newest, count}));
    return false;
  }

  const analysis::Writes* writes_;
  Known known_;
  std::unordered_map<const Var*, VarRef> replaced_;
};

}  // namespace

Module eliminate_common(Module module, PassContext&) {
  const bool writes_tensors = analysis::writes_tensors(module);
  return rewrite_functions(module, [writes_tensors](const FunctionRef& function) {
    const analysis::Writes writes(writes_tensors, function);
    // What was computed once may hold something else by now.
    if (!writes.writes_nothing()) return function;
    return std::static_pointer_cast<const Function>(Eliminator(writes).expr(function));
  });
}

}  // namespace ingot::transform
