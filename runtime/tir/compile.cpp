#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/base/error.h"
#include "runtime/tir/expr_ops.h"
#include "runtime/tir/program.h"
#include "runtime/tir/totality.h"
#include "runtime/tir/vectorize.h"

namespace ingot::tir {
namespace {

// A register and who gives it back: a temporary is given back by its one reader; constants, lets and what was moved in
// front of the loop belong to others. An alias lies in a buffer that a later store may change.
struct Operand {
  uint32_t reg = 0;
  bool temporary = false;
  bool alias = false;
};

// Rough cost of a step per lane, for the distance of polls.
uint32_t step_cost(const NestExpr& expr) {
  const ExprOpInfo& info = expr_op_info(expr.op);
  return info.operands == Operands::Float || expr.op == ExprOp::Pow ? 8 : 1;
}

class Compiler {
 public:
  Compiler(const Nest& nest, MachineProgram& program) : nest_(nest), program_(program), block_(&program.main) {}

  void run() {
    for (size_t i = 0; i < nest_.scalars.size(); ++i) {
      const LetRef& var = nest_.scalars[i].var;
      const uint32_t reg = fresh_register(true);
      lets_[var.get()] = {reg};
      MachineProgram::ScalarParam param{reg, var->dtype, std::nullopt, nest_.scalar_values[i]};
      if (var->index) param.slot = slot(var->index);
      program_.scalars.push_back(param);
    }
    body(nest_.body);
  }

 private:
  // Registers and slots.

  uint32_t fresh_register(bool storage) {
    program_.has_storage.push_back(storage);
    return static_cast<uint32_t>(program_.has_storage.size() - 1);
  }
  Operand temporary() {
    if (free_.empty()) return {fresh_register(true), true, false};
    const uint32_t reg = free_.back();
    free_.pop_back();
    return {reg, true, false};
  }
  void release(const Operand& operand) {
    if (operand.temporary && !operand.alias) free_.push_back(operand.reg);
    if (operand.alias) free_aliases_.push_back(operand.reg);
  }
  Operand alias() {
    if (free_aliases_.empty()) return {fresh_register(false), false, true};
    const uint32_t reg = free_aliases_.back();
    free_aliases_.pop_back();
    return {reg, false, true};
  }
  uint32_t slot(const SymVar& var) {
    const auto [found, added] = slots_.try_emplace(var.get(), program_.vars);
    program_.vars += added;
    return found->second;
  }

  Step& emit(StepFunction function, uint32_t cost = 1) {
    block_->cost += cost;
    return block_->steps.emplace_back(Step{.run = function});
  }

  // Indices.

  uint32_t tree_node(IndexTree& tree, const PrimExpr& expr) {
    IndexNode node{expr.op()};
    if (expr.op() == PrimOp::Const) node.value = expr.value();
    if (expr.op() == PrimOp::Var) node.value = slot(expr.var());
    for (size_t i = 0; i < expr.operands().size(); ++i) node.operands[i] = tree_node(tree, expr.operands()[i]);
    tree.nodes.push_back(node);
    return static_cast<uint32_t>(tree.nodes.size() - 1);
  }
  IndexTree index_tree(const PrimExpr& expr) {
    IndexTree tree;
    tree_node(tree, expr);
    return tree;
  }

  // Has a value of its own in each lane.
  bool varies(const PrimExpr& expr) const {
    bool found = false;
    for_each_var(expr, [&](const SymVar& var) { found |= var == vector_var_ || lane_lets_.contains(var.get()); });
    return found;
  }

  // Null where the position is not linear in the lane. `expr` is known to have a value that fits.
  const LinearPosition* linear_position(BufferId buffer, const PrimExpr& expr) {
    const LinearParts parts = linear_parts(expr);
    LinearPosition position{buffer, parts.base, 0, {}};
    if (parts.rest && varies(parts.rest)) return nullptr;
    for (const auto& part : parts.parts) {
      if (lane_lets_.contains(part.var.get())) return nullptr;
      position.parts.push_back({slot(part.var), part.coefficient});
      if (part.var == vector_var_) position.stride = part.coefficient;
    }
    if (parts.rest) {
      const uint32_t rest = program_.vars++;
      program_.trees.push_back(index_tree(parts.rest));
      Step& step = emit(run_scalar_index);
      step.dst = rest;
      step.detail = &program_.trees.back();
      position.parts.push_back({rest, 1});
    }
    return &program_.positions.emplace_back(std::move(position));
  }

  const LinearPosition* linear_position(const Place& place) {
    return place.proved ? linear_position(place.buffer, place.indices[0]) : nullptr;
  }

  const LinearPosition* buffer_only(BufferId buffer) {
    return &program_.positions.emplace_back(LinearPosition{buffer, 0, 0, {}});
  }

  // The value of one expression, or the checked position of several, in each lane.
  Operand lane_index(const std::vector<PrimExpr>& exprs, std::vector<int64_t> dims, BufferId buffer = 0) {
    LaneIndex index;
    index.dims = std::move(dims);
    index.buffer = buffer;
    std::unordered_set<const SymVarNode*> seen;
    for (const PrimExpr& expr : exprs) {
      index.trees.push_back(index_tree(expr));
      for_each_var(expr, [&](const SymVar& var) {
        if (!seen.insert(var.get()).second) return;
        if (var == vector_var_) {
          index.has_vector_var = true;
          index.vector_slot = slot(var);
        } else if (const auto let = lane_lets_.find(var.get()); let != lane_lets_.end()) {
          index.sources.push_back({slot(var), let->second});
        }
      });
    }
    const Operand to = temporary();
    Step& step = emit(run_lane_index, 4);
    step.dst = to.reg;
    step.detail = &program_.lane_indices.emplace_back(std::move(index));
    return to;
  }

  Operand lane_position(const Place& place) {
    return lane_index(place.indices, place.proved ? std::vector<int64_t>{} : nest_.buffers[place.buffer].dims,
                      place.buffer);
  }

  // Expressions.

  // Has one value during the whole vector loop.
  bool is_fixed(const NestExpr& expr) const {
    if (expr.op == ExprOp::Index && mentions_any(expr.index, inside_)) return false;
    if (expr.op == ExprOp::Let && inside_.contains(expr.let.get())) return false;
    if (expr.op == ExprOp::Load &&
        (plan_->stored.contains(expr.place.buffer) || mentions_any(expr.place.indices[0], inside_)))
      return false;
    return std::ranges::all_of(expr.operands, [&](const NestExprRef& operand) { return is_fixed(*operand); });
  }

  // Computed once in front of the vector loop, for all lanes.
  Operand hoisted(const NestExpr& expr) {
    Block* const inside = block_;
    block_ = before_;
    before_ = nullptr;
    const Operand to{fresh_register(true)};
    if (const auto* position = expr.op == ExprOp::Load ? linear_position(expr.place) : nullptr) {
      Step& step = emit(fill_step(expr.dtype));
      step.dst = to.reg;
      step.detail = position;
    } else {
      const Operand from = expression(expr);
      Step& step = emit(broadcast_step(dtype_bytes(expr.dtype)));
      step.dst = to.reg;
      step.a = from.reg;
      release(from);
    }
    before_ = block_;
    block_ = inside;
    return to;
  }

  Operand constant(const NestExpr& expr) {
    for (const auto& known : program_.constants)
      if (known.dtype == expr.dtype && known.bits == expr.bits) return {known.reg};
    const uint32_t reg = fresh_register(true);
    program_.constants.push_back({reg, expr.dtype, expr.bits});
    return {reg};
  }

  Operand expression(const NestExpr& expr) {
    if (expr.op == ExprOp::Const) return constant(expr);
    if (before_ && is_fixed(expr) && totality_.is_safe(expr)) return hoisted(expr);
    switch (expr.op) {
      case ExprOp::Index:
        return index(expr.index);
      case ExprOp::Let:
        return lets_.at(expr.let.get());
      case ExprOp::Load:
        return load(expr);
      case ExprOp::Select:
        return totality_.is_safe(*expr.operands[1]) && totality_.is_safe(*expr.operands[2]) ? blend(expr)
                                                                                            : choose(expr);
      default:
        return operation(expr);
    }
  }

  Operand index(const PrimExpr& expr) {
    const LinearPosition* position = totality_.fits(expr) ? linear_position(0, expr) : nullptr;
    if (!position) return lane_index({expr}, {});
    const Operand to = temporary();
    Step& step = emit(run_linear_index);
    step.dst = to.reg;
    step.detail = position;
    return to;
  }

  Operand load(const NestExpr& expr) {
    if (const LinearPosition* position = linear_position(expr.place)) {
      const bool in_place = position->stride == 1 && expr.dtype != DType::Bool;
      const Operand to = in_place ? alias() : temporary();
      Step& step = emit(load_step(expr.dtype, in_place));
      step.dst = to.reg;
      step.detail = position;
      return to;
    }
    const Operand at = lane_position(expr.place);
    const Operand to = temporary();
    Step& step = emit(gather_step(expr.dtype));
    step.dst = to.reg;
    step.b = at.reg;
    step.detail = buffer_only(expr.place.buffer);
    release(at);
    return to;
  }

  Operand blend(const NestExpr& expr) {
    const Operand condition = expression(*expr.operands[0]);
    const Operand if_true = expression(*expr.operands[1]);
    const Operand if_false = expression(*expr.operands[2]);
    const Operand to = temporary();
    Step& step = emit(blend_step(dtype_bytes(expr.dtype)));
    step.dst = to.reg;
    step.a = condition.reg;
    step.b = if_true.reg;
    step.c = if_false.reg;
    for (const Operand& operand : {condition, if_true, if_false}) release(operand);
    return to;
  }

  // Only the lanes that ask for a branch run it.
  Operand choose(const NestExpr& expr) {
    const Operand condition = expression(*expr.operands[0]);
    const Operand to = temporary();
    BranchDetail& branch = program_.branches.emplace_back();
    Step& step = emit(run_branch);
    step.a = condition.reg;
    step.detail = &branch;
    const auto fill = [&](Block& block, const NestExpr& value) {
      Block* const outside = std::exchange(block_, &block);
      const Operand result = expression(value);
      Step& copy = emit(copy_step(dtype_bytes(expr.dtype)));
      copy.dst = to.reg;
      copy.a = result.reg;
      release(result);
      block_ = outside;
      block_->cost += block.cost;
    };
    fill(branch.then_block, *expr.operands[1]);
    fill(branch.else_block, *expr.operands[2]);
    release(condition);
    return to;
  }

  Operand operation(const NestExpr& expr) {
    std::vector<Operand> operands;
    for (const NestExprRef& operand : expr.operands) operands.push_back(expression(*operand));
    const DType dtype = expr.operands[0]->dtype;
    StepFunction function = nullptr;
    if (expr.op == ExprOp::Cast) {
      function = cast_step(dtype, expr.dtype);
    } else {
      function = operands.size() == 1 ? unary_step(expr.op, dtype) : binary_step(expr.op, dtype);
    }
    const Operand to = temporary();
    Step& step = emit(function, step_cost(expr));
    step.dst = to.reg;
    step.a = operands[0].reg;
    if (operands.size() > 1) step.b = operands[1].reg;
    for (const Operand& operand : operands) release(operand);
    return to;
  }

  // Statements.

  void body(const std::vector<NestStmt>& list) {
    std::vector<Operand> bound;
    for (const NestStmt& stmt : list) {
      if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
        statement(*loop);
      } else if (const auto* let = std::get_if<NestLet>(&stmt.node)) {
        bound.push_back(statement(*let));
      } else if (const auto* branch = std::get_if<NestIf>(&stmt.node)) {
        statement(*branch);
      } else {
        statement(std::get<NestStore>(stmt.node));
      }
    }
    for (const Operand& operand : bound) release(operand);
  }

  // Gives what is to be released at the end of the list.
  Operand statement(const NestLet& let) {
    Operand value = expression(*let.value);
    if (value.alias) {
      const Operand own = temporary();
      Step& step = emit(copy_step(dtype_bytes(let.value->dtype)));
      step.dst = own.reg;
      step.a = value.reg;
      release(value);
      value = own;
    }
    lets_[let.var.get()] = {value.reg};
    if (let.var->index && vector_var_) lane_lets_[let.var->index.get()] = value.reg;
    if (let.var->index && !vector_var_) {
      Step& step = emit(run_bind_index);
      step.dst = slot(let.var->index);
      step.a = value.reg;
    }
    return value;
  }

  void statement(const NestIf& node) {
    const Operand condition = expression(*node.condition);
    BranchDetail& branch = program_.branches.emplace_back();
    Step& step = emit(run_branch);
    step.a = condition.reg;
    step.detail = &branch;
    Block* const outside = block_;
    block_ = &branch.then_block;
    body(node.then_body);
    block_ = &branch.else_block;
    body(node.else_body);
    block_ = outside;
    block_->cost += branch.then_block.cost + branch.else_block.cost;
    release(condition);
  }

  void statement(const NestStore& node) {
    const bool folds = plan_ && plan_->folds.contains(node.place.buffer);
    const auto fold = folds ? as_fold(node) : std::nullopt;
    const Operand value = expression(fold ? *fold->value : *node.value);
    if (fold) {
      const LinearPosition* position = linear_position(node.place);
      Step& step = emit(fold_step(fold->op, node.value->dtype, fold->swapped));
      step.a = value.reg;
      step.detail = position;
    } else if (const LinearPosition* position = linear_position(node.place)) {
      Step& step = emit(store_step(dtype_bytes(node.value->dtype)));
      step.a = value.reg;
      step.detail = position;
    } else {
      const Operand at = lane_position(node.place);
      Step& step = emit(scatter_step(dtype_bytes(node.value->dtype)));
      step.a = value.reg;
      step.b = at.reg;
      step.detail = buffer_only(node.place.buffer);
      release(at);
    }
    release(value);
  }

  void statement(const NestLoop& node) {
    LoopDetail& loop = program_.loops.emplace_back();
    loop.slot = slot(node.var);
    loop.extent = index_tree(node.extent);
    const auto plan = vector_var_ ? std::nullopt : choose_vector_loop(node);
    Step& step = emit(plan ? run_vector_loop : run_scalar_loop);
    step.detail = &loop;
    const int64_t most = node.extent.as_const().value_or(INT64_MAX);
    facts_.bound(node.var, {0, std::max<int64_t>(most - 1, 0)});

    Block* const outside = std::exchange(block_, &loop.body);
    if (plan) {
      plan_ = &*plan;
      before_ = &loop.before;
      vector_var_ = node.var;
      inside_ = {node.var.get()};
      collect_bound(node.body, inside_);
    }
    body(node.body);
    if (plan) {
      plan_ = nullptr;
      before_ = nullptr;
      vector_var_ = nullptr;
      lane_lets_.clear();
    }
    block_ = outside;
  }

  const Nest& nest_;
  MachineProgram& program_;
  Block* block_;
  std::vector<uint32_t> free_, free_aliases_;
  std::unordered_map<const SymVarNode*, uint32_t> slots_;
  std::unordered_map<const LetVar*, Operand> lets_;
  Assumptions facts_;
  Totality totality_{facts_};

  // Of the vector loop that is being compiled.
  const VectorPlan* plan_ = nullptr;
  Block* before_ = nullptr;  // null outside of one, and while what stands in front of it is compiled
  SymVar vector_var_;
  std::unordered_set<const void*> inside_;                     // what it binds
  std::unordered_map<const SymVarNode*, uint32_t> lane_lets_;  // index variables of lets that it binds
};

}  // namespace

void compile(const Nest& nest, MachineProgram& program) { Compiler(nest, program).run(); }

}  // namespace ingot::tir
