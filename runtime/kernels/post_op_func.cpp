#include "runtime/kernels/post_op_func.h"

#include <fmt/format.h>

#include "runtime/base/error.h"
#include "runtime/parallel/thread_team.h"
#include "runtime/tir/builder.h"

namespace ingot {
namespace {

using tir::Expr;
using tir::ExprOp;

Expr number(double value) { return tir::constant(DType::Float32, value); }

// Any post-op but Add.
Expr activate(const PostOp& op, Expr x) {
  switch (op.kind) {
    case PostOpKind::Relu:
      return tir::binary(ExprOp::Max, std::move(x), number(0));
    case PostOpKind::LeakyRelu:
      return tir::select(tir::binary(ExprOp::Less, x, number(0)), tir::binary(ExprOp::Mul, x, number(op.alpha)), x);
    case PostOpKind::Clip:
      return tir::binary(ExprOp::Min, tir::binary(ExprOp::Max, std::move(x), number(op.alpha)), number(op.beta));
    case PostOpKind::Sigmoid:
      return tir::unary(ExprOp::Sigmoid, std::move(x));
    case PostOpKind::Tanh:
      return tir::unary(ExprOp::Tanh, std::move(x));
    case PostOpKind::Gelu:
      return tir::unary(ExprOp::Gelu, std::move(x));
    case PostOpKind::Add:
      break;
  }
  fail(ErrorCode::Internal, "{} is no function of one number", post_op_name(op.kind));
}

}  // namespace

PostOpFunc::Pattern PostOpFunc::pattern_of(const Problem& problem, std::span<const size_t> operands) {
  const OperandSpec& result = problem.outputs[0];
  Pattern pattern;
  for (const size_t index : operands) {
    const OperandSpec& operand = problem.inputs[index];
    std::vector<bool>& along = pattern.emplace_back(result.dims.size());
    for (size_t d = 0; d < along.size(); ++d)
      along[d] = operand.dims[d] == 1 && (result.dims[d] != 1 || (result.varies(d) && !operand.varies(d)));
  }
  return pattern;
}

std::unique_ptr<const PostOpFunc> PostOpFunc::make(const Problem& problem, size_t first, size_t first_input) {
  const OperandSpec& result = problem.outputs[0];
  const size_t rank = result.dims.size();
  const std::span<const PostOp> ops = std::span(problem.call->post_ops).subspan(first);
  auto made = std::make_unique<PostOpFunc>();
  for (const PostOp& op : ops)
    if (op.kind == PostOpKind::Add) made->operands_.push_back(first_input++);
  made->pattern_ = pattern_of(problem, made->operands_);

  std::vector<PrimExpr> dims;
  uint32_t open = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (result.varies(d)) open |= uint32_t{1} << d;
    dims.push_back(result.varies(d) ? PrimExpr(make_sym_var(fmt::format("d{}", d))) : PrimExpr(result.dims[d]));
  }
  tir::FuncBuilder f("post_ops");
  const tir::BufferId x = f.input("x", DType::Float32, dims);
  std::vector<tir::BufferId> added;
  std::vector<uint32_t> varying = {open};
  std::vector<std::vector<int64_t>> known = {result.dims};
  for (size_t i = 0; i < made->operands_.size(); ++i) {
    std::vector<PrimExpr> own = dims;
    uint32_t own_open = open;
    for (size_t d = 0; d < rank; ++d) {
      if (!made->pattern_[i][d]) continue;
      own[d] = PrimExpr(1);
      own_open &= ~(uint32_t{1} << d);
    }
    added.push_back(f.input(fmt::format("a{}", i), DType::Float32, std::move(own)));
    varying.push_back(own_open);
    known.push_back(problem.inputs[made->operands_[i]].dims);
  }
  const tir::BufferId y = f.output("y", DType::Float32, dims);
  varying.push_back(open);
  known.push_back(result.dims);
  f.compute(y, [&](const tir::Indices& at) {
    Expr value = f.load(x, at);
    size_t next = 0;
    for (const PostOp& op : ops) {
      if (op.kind != PostOpKind::Add) {
        value = activate(op, std::move(value));
        continue;
      }
      tir::Indices index = at;
      for (size_t d = 0; d < rank; ++d)
        if (made->pattern_[next][d]) index[d] = PrimExpr(0);
      value = tir::binary(ExprOp::Add, std::move(value), f.load(added[next], std::move(index)));
      ++next;
    }
    return value;
  });
  made->func_ = f.finish();
  const int threads = problem.threads != nullptr ? problem.threads->size() : 1;
  made->shaped_ = jit::ShapedFunc::compile(made->func_, known, varying, problem.cpu, threads, problem.perf_map);
  if (!made->shaped_) return nullptr;
  return made;
}

std::unique_ptr<const jit::CompiledFunc> PostOpFunc::at(const Problem& problem, int threads) const {
  if (pattern_of(problem, operands_) != pattern_) return nullptr;
  std::vector<std::vector<int64_t>> dims = {problem.outputs[0].dims};
  for (const size_t operand : operands_) dims.push_back(problem.inputs[operand].dims);
  dims.push_back(problem.outputs[0].dims);
  return shaped_->at(dims, threads);
}

}  // namespace ingot
