#include "runtime/tir/checker.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/base/error.h"
#include "runtime/tir/disjoint.h"
#include "runtime/tir/expr_ops.h"
#include "runtime/tir/text.h"

namespace ingot::tir {
namespace {

constexpr size_t kMaxNodes = 1u << 20;

class Checker {
 public:
  explicit Checker(const PrimFunc& func) : func_(func), allocated_(func.buffers.size()) {}

  void run() {
    parameters();
    body(func_.body, 1);
    for (size_t id = func_.params; id < func_.buffers.size(); ++id)
      if (!allocated_[id]) bad("buffer {} is neither a parameter nor allocated", func_.buffers[id].name);
    if (!parallel_.empty()) parallel_loops();
  }

 private:
  template <typename... Args>
  [[noreturn]] void report(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) const {
    std::string message =
        fmt::format("prim_func @{}: {}", func_.name, fmt::format(format, std::forward<Args>(args)...));
    if (statement_) message += fmt::format(", in `{}`", print_head(func_, statement_));
    throw Error(code, std::move(message));
  }
  template <typename... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) const {
    report(ErrorCode::WellFormedness, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  [[noreturn]] void mistyped(fmt::format_string<Args...> format, Args&&... args) const {
    report(ErrorCode::TypeError, format, std::forward<Args>(args)...);
  }

  void parameters() {
    if (func_.params > func_.buffers.size() || func_.outputs > func_.params)
      bad("{} outputs among {} parameters of {} buffers", func_.outputs, func_.params, func_.buffers.size());
    for (size_t id = 0; id < func_.params; ++id)
      for (const PrimExpr& dim : func_.buffers[id].dims)
        if (dim.op() == PrimOp::Var) {
          known_.insert(dim.var().get());
          ever_bound_.insert(dim.var().get());
        }
    for (const Scalar& scalar : func_.scalars) {
      const bool is_dim = scalar.var && scalar.var->index && known_.contains(scalar.var->index.get());
      bind(scalar.var, is_dim);
    }
    for (const Buffer& buffer : func_.buffers) {
      element_dtype(buffer.dtype, buffer.name);
      for (const PrimExpr& dim : buffer.dims) symbolic(dim, fmt::format("dimension of {}", buffer.name));
    }
  }

  void element_dtype(DType dtype, std::string_view what) const {
    if (dtype == DType::None || dtype == DType::String) mistyped("{} cannot have dtype {}", what, dtype_name(dtype));
  }

  void bind(const SymVar& var) {
    if (!var) bad("a loop has no variable");
    if (!ever_bound_.insert(var.get()).second) bad("the variable {} is bound twice", var->name);
    known_.insert(var.get());
  }

  void bind(const LetRef& var, bool is_dim = false) {
    if (!var) bad("a let has no variable");
    element_dtype(var->dtype, var->name);
    if ((var->dtype == DType::Int64) != (var->index != nullptr))
      bad("{} of dtype {} must have an index variable exactly where it is an int64", var->name, dtype_name(var->dtype));
    if (!ever_let_.insert(var.get()).second) bad("{} is bound twice", var->name);
    lets_.insert(var.get());
    if (var->index && !is_dim) bind(var->index);
  }

  void symbolic(const PrimExpr& expr, const std::string& what) const {
    if (!expr) bad("{} is missing", what);
    for_each_var(expr, [&](const SymVar& var) {
      if (!known_.contains(var.get())) bad("{} uses {}, which is not bound there", what, var->name);
    });
  }

  const Buffer& access(BufferId id, const std::vector<PrimExpr>& indices) const {
    if (id >= func_.buffers.size()) bad("buffer {} does not exist", id);
    const Buffer& buffer = func_.buffers[id];
    if (id >= func_.params && !live_.contains(id)) bad("buffer {} is not allocated there", buffer.name);
    if (indices.size() != buffer.dims.size())
      bad("{} has {} dimensions but {} indices", buffer.name, buffer.dims.size(), indices.size());
    for (const PrimExpr& index : indices) symbolic(index, fmt::format("an index of {}", buffer.name));
    return buffer;
  }

  void expression(const Expr& expr, uint32_t depth) {
    if (!expr) bad("an expression is missing");
    if (depth > kMaxExprNesting) bad("an expression is nested deeper than {}", kMaxExprNesting);
    if (++nodes_ > kMaxNodes) bad("there are more than {} nodes; bind what is shared by let", kMaxNodes);
    const ExprOpInfo& info = expr_op_info(expr->op);
    if (expr->operands.size() != info.arity)
      bad("'{}' has {} operands instead of {}", info.name, expr->operands.size(), info.arity);
    for (const Expr& operand : expr->operands) expression(operand, depth + 1);
    types(*expr, info);
  }

  void types(const ExprNode& node, const ExprOpInfo& info) {
    const auto operand = [&](size_t i) { return node.operands[i]->dtype; };
    const auto expect = [&](DType dtype) {
      if (node.dtype != dtype) mistyped("an expression says {} but is {}", dtype_name(node.dtype), dtype_name(dtype));
    };
    switch (node.op) {
      case ExprOp::Const:
        return element_dtype(node.dtype, "a constant");
      case ExprOp::Index:
        symbolic(node.index, "an index value");
        return expect(DType::Int64);
      case ExprOp::Let:
        if (!node.let || !lets_.contains(node.let.get()))
          bad("{} is not bound there", node.let ? node.let->name : std::string("a let"));
        return expect(node.let->dtype);
      case ExprOp::Load:
        return expect(access(node.buffer, node.indices).dtype);
      case ExprOp::Cast:
        return element_dtype(node.dtype, "the result of cast");
      case ExprOp::Select:
        if (operand(0) != DType::Bool)
          mistyped("the condition of select is {} instead of bool", dtype_name(operand(0)));
        if (operand(1) != operand(2))
          mistyped("the branches of select are {} and {}; use cast", dtype_name(operand(1)), dtype_name(operand(2)));
        return expect(operand(1));
      default:
        break;
    }
    if (!accepts_dtype(node.op, operand(0)))
      mistyped("'{}' takes {}, not {}", info.name, operands_text(info.operands), dtype_name(operand(0)));
    if (info.arity == 2 && operand(0) != operand(1))
      mistyped("'{}' is applied to {} and {}; use cast", info.name, dtype_name(operand(0)), dtype_name(operand(1)));
    expect(result_dtype(node.op, operand(0)));
  }

  // Asks for proofs, so everything else is checked by then.
  void parallel_loops() {
    const FuncFacts facts(func_);
    for (const auto& [stmt, loops] : parallel_) {
      const auto shared = shared_between_iterations(func_, facts, loops);
      if (!shared) continue;
      statement_ = stmt;
      bad("iterations of the parallel loop over {} may touch the same element of {}, which they write; make the loop "
          "serial",
          loops.back()->var->name, func_.buffers[*shared].name);
    }
  }

  // What a list binds ends with it.
  void body(const std::vector<Stmt>& list, uint32_t depth) {
    if (depth > kMaxStmtDepth) bad("statements are nested deeper than {}", kMaxStmtDepth);
    const auto known = known_;
    const auto lets = lets_;
    const auto live = live_;
    for (const Stmt& stmt : list) {
      if (!stmt) bad("a statement is missing");
      if (++nodes_ > kMaxNodes) bad("there are more than {} nodes", kMaxNodes);
      statement_ = stmt;
      std::visit([&](const auto& node) { statement(node, depth); }, stmt->node);
      statement_ = nullptr;
    }
    known_ = known;
    lets_ = lets;
    live_ = live;
  }

  void statement(const For& node, uint32_t depth) {
    const Stmt self = statement_;
    symbolic(node.extent, "the extent of a loop");
    bind(node.var);
    if (node.kind == LoopKind::Parallel && reduce_loops_ != 0) bad("a reduce loop contains the parallel loop");
    reduce_loops_ += node.kind == LoopKind::Reduce;
    loops_.push_back(&node);
    body(node.body, depth + 1);
    statement_ = self;
    if (node.kind == LoopKind::Parallel) parallel_.push_back({self, loops_});
    loops_.pop_back();
    reduce_loops_ -= node.kind == LoopKind::Reduce;
    known_.erase(node.var.get());
  }

  void statement(const Let& node, uint32_t) {
    expression(node.value, 1);
    if (node.var && node.var->dtype != node.value->dtype)
      mistyped("{} is {} but its value is {}", node.var->name, dtype_name(node.var->dtype),
               dtype_name(node.value->dtype));
    bind(node.var);
  }

  void statement(const If& node, uint32_t depth) {
    const Stmt self = statement_;
    expression(node.condition, 1);
    if (node.condition->dtype != DType::Bool)
      mistyped("the condition of if is {} instead of bool", dtype_name(node.condition->dtype));
    body(node.then_body, depth + 1);
    statement_ = self;
    body(node.else_body, depth + 1);
    statement_ = self;
  }

  void statement(const Store& node, uint32_t) {
    const Buffer& buffer = access(node.buffer, node.indices);
    if (node.buffer < func_.params - func_.outputs) bad("the input {} is written", buffer.name);
    expression(node.value, 1);
    if (node.value->dtype != buffer.dtype)
      mistyped("{} is stored to {} of dtype {}; use cast", dtype_name(node.value->dtype), buffer.name,
               dtype_name(buffer.dtype));
  }

  void statement(const Allocate& node, uint32_t) {
    if (node.buffer >= func_.buffers.size() || node.buffer < func_.params)
      bad("buffer {} cannot be allocated", node.buffer);
    const Buffer& buffer = func_.buffers[node.buffer];
    if (allocated_[node.buffer]) bad("buffer {} is allocated twice", buffer.name);
    allocated_[node.buffer] = true;
    live_.insert(node.buffer);
  }

  const PrimFunc& func_;
  std::vector<bool> allocated_;
  std::unordered_set<BufferId> live_;
  std::unordered_set<const SymVarNode*> known_, ever_bound_;
  std::unordered_set<const LetVar*> lets_, ever_let_;
  std::vector<const For*> loops_;
  std::vector<std::pair<Stmt, std::vector<const For*>>> parallel_;  // with the loops around
  int reduce_loops_ = 0;
  size_t nodes_ = 0;
  Stmt statement_;
};

}  // namespace

void check(const PrimFunc& func) { Checker(func).run(); }

}  // namespace ingot::tir
