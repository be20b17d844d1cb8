#include "compiler/transform/merge_calls.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ops/op_func.h"
#include "compiler/transform/sequences.h"
#include "runtime/tir/builder.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/walk.h"

namespace ingot::transform {

using namespace ir;
using tir::BufferId;
using tir::ExprOp;
using tir::PrimFunc;

namespace {

bool is_known_tensor(const StructInfo& info) {
  return info != nullptr && info->kind == InfoKind::Tensor && info->dims && info->dtype != DType::None &&
         info->dtype != DType::String;
}

tir::Expr element(const TensorObject& number) {
  tir::ExprNode node{.op = ExprOp::Const, .dtype = number.dtype};
  std::memcpy(&node.bits, number.data, dtype_info(number.dtype).bytes);
  return std::make_shared<const tir::ExprNode>(std::move(node));
}

using VarMap = std::unordered_map<const SymVarNode*, PrimExpr>;

// What the variables of the function are at the call; nullopt where its dimensions are not proved to fit.
std::optional<VarMap> bind(const TirCall& call) {
  const PrimFunc& func = *call.func;
  if (func.params != call.inputs.size() + 1 || func.outputs != 1 || func.scalars.size() != call.scalars.size())
    return std::nullopt;
  VarMap bound;
  for (size_t i = 0; i < func.scalars.size(); ++i) {
    if (func.scalars[i].var->index == nullptr) return std::nullopt;
    bound.emplace(func.scalars[i].var->index.get(), call.scalars[i]);
  }
  const auto substitution = [&](const SymVar& var) -> std::optional<PrimExpr> {
    const auto found = bound.find(var.get());
    return found == bound.end() ? std::nullopt : std::optional(found->second);
  };
  const auto dims_of = [&](size_t i) -> const std::vector<PrimExpr>& {
    return *(i < call.inputs.size() ? call.inputs[i]->info : call.output)->dims;
  };
  for (uint32_t i = 0; i < func.params; ++i) {
    if (func.buffers[i].dims.size() != dims_of(i).size()) return std::nullopt;
    for (size_t d = 0; d < dims_of(i).size(); ++d)
      if (func.buffers[i].dims[d].op() == PrimOp::Var)
        bound.emplace(func.buffers[i].dims[d].var().get(), dims_of(i)[d]);
  }
  for (uint32_t i = 0; i < func.params; ++i)
    for (size_t d = 0; d < dims_of(i).size(); ++d)
      if (prove_equal(substitute(func.buffers[i].dims[d], substitution), dims_of(i)[d]) != Proof::Yes)
        return std::nullopt;
  return bound;
}

bool divides_integers(const PrimFunc& func) {
  bool divides = false;
  tir::for_each_stmt(func.body, [&](const tir::StmtNode& stmt) {
    tir::for_each_expr(stmt, [&](const tir::ExprNode& expr) {
      switch (expr.op) {
        case ExprOp::Div:
        case ExprOp::Mod:
        case ExprOp::FloorDiv:
        case ExprOp::FloorMod:
        case ExprOp::Pow:
          divides = divides || !is_float(expr.dtype);
          break;
        default:
          break;
      }
    });
  });
  return divides;
}

// One function in the making; its symbolic expressions are those of the caller until `finish`.
class Merging {
 public:
  Merging(std::span<const Member> members, Numbers numbers) : members_(members), numbers_(numbers) {
    for (const Member& member : members) {
      for (const Expr& input : member.call->inputs)
        if (!is_internal(input) && number_inside(input) == nullptr && !ids_.contains(input_key(input))) {
          ids_.emplace(input_key(input), static_cast<BufferId>(inputs_.size()));
          inputs_.push_back(input);
        }
    }
    auto next = static_cast<BufferId>(inputs_.size());
    output_ = next++;
    for (const Member& member : members.first(members.size() - 1)) {
      ids_.emplace(member.result, next++);
      const StructInfo& info = member.call->output;
      temporaries_.push_back({member.call->func->name, info->dtype, *info->dims});
    }
    for (const Member& member : members) add(member);
  }

  TirCall finish() {
    std::vector<StructInfo> infos;
    for (const Expr& input : inputs_) infos.push_back(input->info);
    const StructInfo& output = members_.back().call->output;
    ops::Sizes sizes(infos, {&output, 1}, sizes_used());

    PrimFunc func;
    func.name = members_.back().call->func->name;
    std::vector<PrimExpr> scalars(sizes.scalars().begin(), sizes.scalars().end());
    for (size_t i = 0; i < scalars.size(); ++i) {
      func.scalars.push_back({tir::make_let(sizes.scalars()[i]->name, DType::Int64)});
      sizes.bind_scalar(i, func.scalars.back().var->index);
    }
    const auto add = [&](std::string name, DType dtype, std::vector<PrimExpr> dims) {
      for (PrimExpr& dim : dims) dim = sizes.local(dim);
      func.buffers.push_back({std::move(name), dtype, std::move(dims)});
    };
    for (size_t i = 0; i < infos.size(); ++i) add(fmt::format("x{}", i), infos[i]->dtype, *infos[i]->dims);
    add("y", output->dtype, *output->dims);
    func.params = static_cast<uint32_t>(func.buffers.size());
    for (size_t i = 0; i < temporaries_.size(); ++i) {
      if (i + 1 < members_.size()) func.body.push_back(tir::allocate(static_cast<BufferId>(func.buffers.size())));
      add(temporaries_[i].name, temporaries_[i].dtype, temporaries_[i].dims);
    }
    tir::Rewrite localize;
    localize.index = [&](const PrimExpr& index) { return sizes.local(index); };
    for (tir::Stmt& stmt : rewrite(body_, localize)) func.body.push_back(std::move(stmt));
    return {std::make_shared<const PrimFunc>(std::move(func)), inputs_, std::move(scalars), output,
            members_.back().call->span};
  }

 private:
  const TensorObject* number_inside(const Expr& input) const {
    return numbers_ == Numbers::Inside ? number_of(input) : nullptr;
  }

  bool is_internal(const Expr& input) const {
    return std::ranges::any_of(members_, [&](const Member& member) { return member.result == input.get(); });
  }

  // The statements of a member, with variables of their own.
  void add(const Member& member) {
    const TirCall& call = *member.call;
    const PrimFunc& func = *call.func;
    VarMap vars = *bind(call);
    const auto first = output_ + 1 + static_cast<BufferId>(temporaries_.size());
    for (size_t i = func.params; i < func.buffers.size(); ++i) temporaries_.push_back(func.buffers[i]);

    std::unordered_map<const tir::LetVar*, PrimExpr> scalar_values;
    for (size_t i = 0; i < func.scalars.size(); ++i) scalar_values.emplace(func.scalars[i].var.get(), call.scalars[i]);
    std::unordered_map<const tir::LetVar*, tir::LetRef> lets;
    tir::Rewrite copy;
    const Substitution by = [&](const SymVar& var) -> std::optional<PrimExpr> {
      const auto found = vars.find(var.get());
      return found == vars.end() ? std::nullopt : std::optional(found->second);
    };
    copy.index = [&](const PrimExpr& index) { return substitute(index, by); };
    copy.loop_var = [&](const SymVar& var) {
      const SymVar fresh = make_sym_var(var->name);
      own_.insert(fresh.get());
      vars.insert_or_assign(var.get(), PrimExpr(fresh));
      return fresh;
    };
    copy.let = [&](const tir::LetRef& let) {
      const auto [entry, is_new] = lets.try_emplace(let.get(), nullptr);
      if (is_new) {
        entry->second = tir::make_let(let->name, let->dtype);
        if (let->index != nullptr) {
          own_.insert(entry->second->index.get());
          vars.emplace(let->index.get(), PrimExpr(entry->second->index));
        }
      }
      return entry->second;
    };
    copy.expr = [&](const tir::ExprNode& node) -> tir::Expr {
      if (node.op == ExprOp::Load && node.buffer < call.inputs.size() &&
          number_inside(call.inputs[node.buffer]) != nullptr)
        return element(*number_inside(call.inputs[node.buffer]));
      const auto found = node.op == ExprOp::Let ? scalar_values.find(node.let.get()) : scalar_values.end();
      return found == scalar_values.end() ? nullptr : tir::index_value(found->second);
    };
    copy.buffer = [&](BufferId id) {
      if (id >= func.params) return first + (id - func.params);
      if (id < call.inputs.size()) return ids_.at(input_key(call.inputs[id]));
      return member.result == members_.back().result ? output_ : ids_.at(member.result);
    };
    for (size_t i = temporaries_.size() - (func.buffers.size() - func.params); i < temporaries_.size(); ++i)
      for (PrimExpr& dim : temporaries_[i].dims) dim = substitute(dim, by);
    for (tir::Stmt& stmt : rewrite(func.body, copy)) body_.push_back(std::move(stmt));
  }

  // Every expression over variables of the caller, those of the function itself taken as zero.
  std::vector<PrimExpr> sizes_used() const {
    std::vector<PrimExpr> used;
    const auto add = [&](const PrimExpr& expr) {
      bool any = false;
      for_each_var(expr, [&](const SymVar& var) { any = any || !own_.contains(var.get()); });
      if (!any) return;
      used.push_back(substitute(expr, [&](const SymVar& var) -> std::optional<PrimExpr> {
        return own_.contains(var.get()) ? std::optional(PrimExpr(0)) : std::nullopt;
      }));
    };
    tir::for_each_index(body_, add);
    for (const tir::Buffer& buffer : temporaries_)
      for (const PrimExpr& dim : buffer.dims) add(dim);
    return used;
  }

  std::span<const Member> members_;
  Numbers numbers_;
  std::vector<Expr> inputs_;
  std::unordered_map<const void*, BufferId> ids_;  // of inputs and of results of members
  BufferId output_ = 0;
  std::vector<tir::Buffer> temporaries_;  // results of members, then temporaries of theirs
  std::vector<tir::Stmt> body_;
  std::unordered_set<const void*> own_;  // loop variables and int64 lets
};

}  // namespace

std::optional<TirCall> as_tir_call(const Module& module, const Expr& value) {
  const Op* op = called_op(value);
  if (op == nullptr || op->name != "call_tir") return std::nullopt;
  const auto& call = *as<Call>(value);
  const auto* global = as<GlobalVar>(call.args.at(0));
  const auto* definition = global == nullptr ? nullptr : module.find(global->name);
  const auto* inputs = as<Tuple>(call.args.at(1));
  if (definition == nullptr || definition->prim_func == nullptr || inputs == nullptr || call.info_args.size() != 1)
    return std::nullopt;
  TirCall made{definition->prim_func, inputs->fields, {}, call.info_args[0], call.span};
  if (!is_known_tensor(made.output)) return std::nullopt;
  for (const Expr& input : made.inputs)
    if (!is_leaf(input) || !is_known_tensor(input->info)) return std::nullopt;
  if (call.args.size() > 2) {
    const auto* shape = as<Shape>(call.args[2]);
    if (shape == nullptr) return std::nullopt;
    made.scalars = shape->dims;
  }
  return made;
}

bool is_total(const TirCall& call) {
  if (divides_integers(*call.func) || !bind(call)) return false;
  return std::ranges::none_of(tir::prove_bounds(*call.func),
                              [](tir::BoundsProof proof) { return proof == tir::BoundsProof::None; });
}

const void* input_key(const Expr& input) {
  const auto* constant = as<Constant>(input);
  return constant != nullptr ? static_cast<const void*>(constant->data.get()) : input.get();
}

const TensorObject* number_of(const Expr& input) {
  const auto* constant = as<Constant>(input);
  return constant != nullptr && constant->data->rank == 0 ? constant->data.get() : nullptr;
}

TirCall merge(std::span<const Member> members, Numbers numbers) { return Merging(members, numbers).finish(); }

}  // namespace ingot::transform
