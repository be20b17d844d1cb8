#include "compiler/ops/op_func.h"

#include <algorithm>

#include "runtime/symbolic/simplify.h"

namespace ingot::ops {

using namespace ir;

namespace {

bool contains(const std::vector<SymVar>& vars, const SymVar& var) {
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

std::vector<StructInfo> infos_of(const std::vector<Operand>& operands) {
  std::vector<StructInfo> result;
  result.reserve(operands.size());
  for (const auto& operand : operands) result.push_back(operand.info);
  return result;
}

std::vector<PrimExpr> shape_values(const CallSite& call) {
  std::vector<PrimExpr> result;
  for (size_t i = 0; i < call.size(); ++i) {
    const auto& info = call.info(i);
    if (info == nullptr) continue;
    if (info->kind == InfoKind::Shape && info->dims)
      result.insert(result.end(), info->dims->begin(), info->dims->end());
    if (info->kind == InfoKind::Prim && info->value) result.push_back(*info->value);
    if (info->kind != InfoKind::Tuple) continue;
    for (const auto& field : info->fields)
      if (field->kind == InfoKind::Prim && field->value) result.push_back(*field->value);
  }
  return result;
}

}  // namespace

Sizes::Sizes(std::span<const StructInfo> inputs, std::span<const StructInfo> outputs, std::span<const PrimExpr> extra) {
  for (const auto& list : {inputs, outputs}) {
    for (const auto& info : list) bind(info);
    for (const auto& info : list) name(info);
  }
  for (const auto& expr : extra)
    for_each_var(local(expr), [&](const SymVar& var) {
      if (!contains(bound_, var) && !contains(scalars_, var)) scalars_.push_back(var);
    });
}

void Sizes::bind(const StructInfo& info) {
  for (const auto& dim : *info->dims)
    if (dim.op() == PrimOp::Var && !contains(bound_, dim.var())) bound_.push_back(dim.var());
}

// Gives dimensions that are not bound names of their own, which are bound from then on.
void Sizes::name(const StructInfo& info) {
  for (const auto& dim : *info->dims) {
    if (bound(local(dim))) continue;
    const SymVar var = make_sym_var(fmt::format("d{}", renamed_.size()));
    bound_.push_back(var);
    renamed_.emplace_back(dim, var);
  }
}

bool Sizes::bound(const PrimExpr& expr) const {
  bool all = true;
  for_each_var(expr, [&](const SymVar& var) { all = all && contains(bound_, var); });
  return all;
}

PrimExpr Sizes::local(const PrimExpr& expr) const {
  if (renamed_.empty()) return expr;
  for (const auto& [from, to] : renamed_)
    if (same_expr(expr, from)) return to;
  if (expr.operands().empty()) return expr;
  std::vector<PrimExpr> operands;
  for (const auto& operand : expr.operands()) operands.push_back(local(operand));
  return PrimExpr::make(expr.op(), std::move(operands));
}

void Sizes::bind_scalar(size_t i, SymVar local) { renamed_.emplace_back(scalars_.at(i), std::move(local)); }

std::vector<SymVar> scalar_vars(const CallSite& call, std::span<const StructInfo> outputs) {
  const Sizes sizes(infos_of(operands(call)), outputs, shape_values(call));
  return {sizes.scalars().begin(), sizes.scalars().end()};
}

std::vector<StructInfo> results_of(const StructInfo& info) {
  if (info->kind == InfoKind::Tuple) return info->fields;
  return {info};
}

DType accumulator(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16 ? DType::Float32 : dtype; }

OpFunc::OpFunc(const CallSite& call) : OpFunc(call, results_of(call.op().infer(call))) {}

OpFunc::OpFunc(const CallSite& call, std::vector<StructInfo> outputs)
    : builder_(std::string(call.op().name)), sizes_(infos_of(operands(call)), outputs, shape_values(call)) {
  const auto arguments = operands(call);
  for (size_t i = 0; i < sizes_.scalars().size(); ++i)
    sizes_.bind_scalar(i, builder_.scalar(sizes_.scalars()[i]->name, DType::Int64)->index);
  const auto local_dims = [&](const Dims& dims) {
    Dims result;
    for (const auto& dim : dims) result.push_back(local(dim));
    return result;
  };
  for (size_t i = 0; i < arguments.size(); ++i)
    inputs_.push_back(builder_.input(fmt::format("x{}", i), arguments[i].dtype(), local_dims(arguments[i].dims())));
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs_.push_back(builder_.output(outputs.size() == 1 ? "y" : fmt::format("y{}", i), outputs[i]->dtype,
                                       local_dims(*outputs[i]->dims)));
}

void OpFunc::require(std::string name, const PrimExpr& fits) {
  builder_.temporary(std::move(name), DType::UInt8, {PrimExpr::make(PrimOp::Select, {fits, 0, -1})});
}

void OpFunc::require_size(size_t i, size_t d, const PrimExpr& size) {
  const PrimExpr& dim = dims(in(i))[d];
  if (prove_equal(dim, size) != Proof::Yes)
    require(fmt::format("x{}_{}", i, d), PrimExpr::make(PrimOp::Equal, {dim, size}));
}

void OpFunc::compute(tir::BufferId buffer, const std::function<Element(const tir::Indices&)>& element) {
  builder_.compute(buffer, [&](const tir::Indices& i) { return element(i).expr; });
}

void OpFunc::reduce(tir::BufferId buffer, tir::ExprOp op, const Element& init, Dims extents,
                    const std::function<Element(const tir::Indices& i, const tir::Indices& k)>& element) {
  builder_.reduce(buffer, op, init.expr, std::move(extents),
                  [&](const tir::Indices& i, const tir::Indices& k) { return element(i, k).expr; });
}

tir::Stmt loop(const PrimExpr& extent, tir::LoopKind kind,
               const std::function<std::vector<tir::Stmt>(const PrimExpr& index)>& body) {
  const SymVar var = make_sym_var("i");
  return tir::loop(var, extent, kind, body(PrimExpr(var)));
}

void OpFunc::nest(const Dims& extents, const std::function<std::vector<tir::Stmt>(const tir::Indices&)>& body) {
  tir::Indices indices;
  const std::function<std::vector<tir::Stmt>(size_t)> at = [&](size_t depth) -> std::vector<tir::Stmt> {
    if (depth == extents.size()) return body(indices);
    const auto kind = depth == 0 ? tir::LoopKind::Parallel : tir::LoopKind::Serial;
    return {loop(extents[depth], kind, [&](const PrimExpr& index) {
      indices.push_back(index);
      auto inner = at(depth + 1);
      indices.pop_back();
      return inner;
    })};
  };
  for (auto& statement : at(0)) builder_.append(std::move(statement));
}

Meaning OpFunc::finish() { return std::make_shared<const tir::PrimFunc>(builder_.finish()); }

}  // namespace ingot::ops
