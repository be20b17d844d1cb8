#include "runtime/tir/nest.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tir/accesses.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/substitute.h"
#include "runtime/tir/vectorize.h"

namespace ingot::tir {
namespace {

bool mentions(const PrimExpr& expr, const SymVar& var) {
  bool found = false;
  for_each_var(expr, [&](const SymVar& other) { found |= other == var; });
  return found;
}

bool divides_by(const PrimExpr& expr, const SymVar& var) {
  const bool here = (expr.op() == PrimOp::FloorDiv || expr.op() == PrimOp::FloorMod) && mentions(expr, var);
  return here || std::ranges::any_of(expr.operands(), [&](const PrimExpr& part) { return divides_by(part, var); });
}

// Is it made of these dimensions and numbers?
bool is_of(const PrimExpr& expr, std::span<const SymVar> vars) {
  bool only = true;
  for_each_var(expr, [&](const SymVar& var) { only &= std::ranges::find(vars, var) != vars.end(); });
  return only;
}

// Replaces the indices of two nested loops by quotient and remainder of one; fails where that leaves a division.
class Collapse {
 public:
  // Extents are numbers, or made of the dimensions `vars`.
  static std::optional<NestLoop> attempt(const NestLoop& outer, const Assumptions& around,
                                         std::span<const SymVar> vars) {
    if (outer.body.size() != 1 || !outer.owned.empty()) return std::nullopt;
    const auto* inner = std::get_if<NestLoop>(&outer.body[0].node);
    if (!inner) return std::nullopt;
    const bool reduces = outer.kind == LoopKind::Reduce;
    if (!runs(outer.extent, vars) || !runs(inner->extent, vars) || reduces != (inner->kind == LoopKind::Reduce))
      return std::nullopt;
    const auto extent = product(outer.extent, inner->extent);
    if (!extent) return std::nullopt;
    Collapse collapse(outer.var, inner->var, inner->extent, *extent, around);
    const auto rows = outer.extent.as_const(), columns = inner->extent.as_const();
    if (rows && columns && *rows > 1 && *columns > 1) collapse.number_of_columns_ = *columns;
    LoopKind kind = reduces ? LoopKind::Reduce : LoopKind::Serial;
    if (outer.kind == LoopKind::Parallel && inner->kind == LoopKind::Parallel) kind = LoopKind::Parallel;
    NestLoop result{collapse.both_, *extent, kind, collapse.body(inner->body), {}};
    return collapse.ok_ ? std::optional(std::move(result)) : std::nullopt;
  }

 private:
  static bool runs(const PrimExpr& extent, std::span<const SymVar> vars) {
    const auto value = extent.as_const();
    return value ? *value >= 1 : is_of(extent, vars);
  }
  static std::optional<PrimExpr> product(const PrimExpr& rows, const PrimExpr& columns) {
    const auto a = rows.as_const(), b = columns.as_const();
    if (!a || !b) return simplify(rows * columns);
    const auto both = checked_mul(*a, *b);
    return both ? std::optional<PrimExpr>(*both) : std::nullopt;
  }

  Collapse(SymVar row, SymVar column, PrimExpr columns, const PrimExpr& extent, const Assumptions& around)
      : row_(std::move(row)), column_(std::move(column)), columns_(std::move(columns)), facts_(around) {
    both_ = make_sym_var(column_->name);
    facts_.below(both_, extent);
  }

  PrimExpr expr(const PrimExpr& before) {
    if (!mentions(before, row_) && !mentions(before, column_)) return before;
    const PrimExpr both = both_;
    // Of a sum a * row + b * column no division is left where a is b times the number of columns, and nowhere else.
    if (number_of_columns_ != 0) {
      const LinearParts parts = linear_parts(before);
      if (!parts.rest) {
        const auto step = checked_mul(parts.coefficient_of(column_), number_of_columns_);
        ok_ &= step == parts.coefficient_of(row_);
        if (!ok_) return before;
        return simplify(substitute(before,
                                   [&](const SymVar& var) -> std::optional<PrimExpr> {
                                     if (var == row_) return PrimExpr(0);
                                     return var == column_ ? std::optional(both) : std::nullopt;
                                   }),
                        facts_);
      }
    }
    const PrimExpr after = simplify(substitute(before,
                                               [&](const SymVar& var) -> std::optional<PrimExpr> {
                                                 if (var == row_) return floor_div(both, columns_);
                                                 if (var == column_) return floor_mod(both, columns_);
                                                 return std::nullopt;
                                               }),
                                    facts_);
    ok_ &= !divides_by(after, both_);
    return after;
  }

  Place place(Place before) {
    for (PrimExpr& index : before.indices) index = expr(index);
    return before;
  }

  NestExprRef value(const NestExprRef& before) {
    if (!ok_) return before;
    NestExpr after = *before;
    if (after.op == ExprOp::Index) after.index = expr(after.index);
    if (after.op == ExprOp::Load) after.place = place(std::move(after.place));
    for (NestExprRef& operand : after.operands) operand = value(operand);
    return std::make_shared<const NestExpr>(std::move(after));
  }

  std::vector<NestStmt> body(const std::vector<NestStmt>& before) {
    std::vector<NestStmt> after;
    for (const NestStmt& stmt : before) {
      if (!ok_) break;
      after.push_back(std::visit([&](const auto& node) { return NestStmt{statement(node)}; }, stmt.node));
    }
    return after;
  }
  NestLoop statement(const NestLoop& node) {
    const PrimExpr extent = expr(node.extent);
    if (const auto constant = extent.as_const(); constant && *constant > 0) facts_.below(node.var, *constant);
    return {node.var, extent, node.kind, body(node.body), node.owned};
  }
  NestLet statement(const NestLet& node) { return {node.var, value(node.value)}; }
  NestIf statement(const NestIf& node) { return {value(node.condition), body(node.then_body), body(node.else_body)}; }
  NestStore statement(const NestStore& node) { return {place(node.place), value(node.value)}; }

  SymVar row_, column_, both_;
  PrimExpr columns_;
  int64_t number_of_columns_ = 0;  // 0: not known, or one of the loops runs once
  Assumptions facts_;
  bool ok_ = true;
};

class Converter {
 public:
  Converter(const PrimFunc& func, std::span<const SymVar> vars)
      : func_(func), vars_(vars), proofs_(prove_bounds(func)), facts_(FuncFacts(func).inside({})) {
    for (const SymVar& var : vars) facts_.bound(var, {1, kMostOfShaped});
  }

  std::vector<NestStmt> body(const std::vector<Stmt>& list, std::vector<BufferId>& owned) {
    std::vector<NestStmt> result;
    for (const Stmt& stmt : list) {
      if (const auto* allocate = std::get_if<Allocate>(&stmt->node)) {
        owned.push_back(allocate->buffer);
      } else if (const auto* loop = std::get_if<For>(&stmt->node)) {
        result.push_back({convert(*loop, owned)});
      } else if (const auto* let = std::get_if<Let>(&stmt->node)) {
        result.push_back({NestLet{let->var, value(let->value)}});
      } else if (const auto* branch = std::get_if<If>(&stmt->node)) {
        NestIf node{value(branch->condition), {}, {}};
        node.then_body = body(branch->then_body, owned);
        node.else_body = body(branch->else_body, owned);
        result.push_back({std::move(node)});
      } else {
        const auto& store = std::get<Store>(stmt->node);
        Place to = place(store.buffer, store.indices);
        result.push_back({NestStore{std::move(to), value(store.value)}});
      }
    }
    return result;
  }

 private:
  NestLoop convert(const For& loop, std::vector<BufferId>& owned) {
    const Assumptions around = facts_;
    NestLoop result{loop.var, simplify(loop.extent, facts_), loop.kind, {}, {}};
    facts_.below(loop.var, result.extent);
    result.body = body(loop.body, result.owned);
    owned.insert(owned.end(), result.owned.begin(), result.owned.end());
    facts_ = around;
    if (auto collapsed = Collapse::attempt(result, around, vars_)) return std::move(*collapsed);
    return result;
  }

  Place place(BufferId id, const std::vector<PrimExpr>& indices) {
    const BoundsProof proof = proofs_[next_++];
    Place result{id, proof != BoundsProof::None, proof == BoundsProof::UnderConditions, {}};
    if (result.proved) {
      result.indices = {simplify(flat_index(indices, func_.buffers[id]), facts_)};
    } else {
      for (const PrimExpr& index : indices) result.indices.push_back(index);
    }
    return result;
  }

  NestExprRef value(const Expr& expr) {
    NestExpr node{.op = expr->op, .dtype = expr->dtype, .bits = expr->bits, .index = expr->index, .let = expr->let};
    if (expr->op == ExprOp::Load) node.place = place(expr->buffer, expr->indices);
    for (const Expr& operand : expr->operands) node.operands.push_back(value(operand));
    return std::make_shared<const NestExpr>(std::move(node));
  }

  const PrimFunc& func_;
  std::span<const SymVar> vars_;
  std::vector<BoundsProof> proofs_;
  size_t next_ = 0;
  Assumptions facts_;
};

uint64_t saturating_add(uint64_t a, uint64_t b) { return checked_add(a, b).value_or(UINT64_MAX); }

// `facts` know the loops around; extents that are not constant count with the greatest value that is known.
uint64_t work_of(const std::vector<NestStmt>& body, Assumptions& facts) {
  uint64_t total = 0;
  for (const NestStmt& stmt : body) {
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
      const int64_t most = std::max<int64_t>(range_of(loop->extent, facts).greatest, 0);
      facts.below(loop->var, most);
      const uint64_t each = std::max<uint64_t>(work_of(loop->body, facts), 1);
      total = saturating_add(total, checked_mul(each, static_cast<uint64_t>(most)).value_or(UINT64_MAX));
    } else if (const auto* branch = std::get_if<NestIf>(&stmt.node)) {
      total = saturating_add(total, std::max(work_of(branch->then_body, facts), work_of(branch->else_body, facts)));
    } else {
      total = saturating_add(total, 1);
    }
  }
  return total;
}

void visit_places(const NestExpr& expr, const std::function<void(const Place&, bool)>& visit) {
  if (expr.op == ExprOp::Load) visit(expr.place, false);
  for (const NestExprRef& operand : expr.operands) visit_places(*operand, visit);
}

}  // namespace

namespace {

PrimFunc with_values(const PrimFunc& func, const Values& values) {
  return substitute(func, [&](const SymVar& var) -> std::optional<PrimExpr> {
    const auto found = values.find(var.get());
    return found == values.end() ? std::nullopt : std::optional(PrimExpr(found->second));
  });
}

bool extents_are_of(const std::vector<NestStmt>& body, std::span<const SymVar> vars) {
  return std::ranges::all_of(body, [&](const NestStmt& stmt) {
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node))
      return is_of(loop->extent, vars) && extents_are_of(loop->body, vars);
    const auto* branch = std::get_if<NestIf>(&stmt.node);
    return branch == nullptr || (extents_are_of(branch->then_body, vars) && extents_are_of(branch->else_body, vars));
  });
}

}  // namespace

Nest make_nest(const PrimFunc& func, std::span<const std::vector<int64_t>> dims, std::span<const int64_t> scalars) {
  FuncShape shape = shape_of(func, dims, scalars);
  Nest nest;
  nest.buffers = std::move(shape.buffers);
  nest.scalar_values = std::move(shape.scalars);
  nest.scalars = func.scalars;
  nest.params = func.params;
  const PrimFunc concrete = with_values(func, shape.values);
  for (size_t id = func.params - func.outputs; id < func.buffers.size(); ++id)
    nest.buffers[id].zero_fill = nest.buffers[id].bytes != 0 && !writes_whole(concrete, static_cast<BufferId>(id));
  std::vector<BufferId> owned;
  nest.body = Converter(concrete, {}).body(concrete.body, owned);
  Assumptions facts;
  nest.work = std::max<uint64_t>(work_of(nest.body, facts), 1);
  return nest;
}

std::optional<Nest> make_shaped_nest(const PrimFunc& func, std::span<const std::vector<int64_t>> dims,
                                     std::span<const uint32_t> varying) {
  Values fixed;
  std::vector<SymVar> vars;
  for (const bool varies : {false, true})
    for (size_t i = 0; i < func.params; ++i)
      for (size_t d = 0; d < func.buffers[i].dims.size(); ++d) {
        const PrimExpr& dim = func.buffers[i].dims[d];
        if (dim.op() != PrimOp::Var || (d < 32 && (varying[i] >> d & 1) != 0) != varies) continue;
        if (!varies) fixed.try_emplace(dim.var().get(), dims[i][d]);
        if (varies && !fixed.contains(dim.var().get()) && std::ranges::find(vars, dim.var()) == vars.end())
          vars.push_back(dim.var());
      }
  if (vars.empty()) return std::nullopt;
  const PrimFunc shaped = with_values(func, fixed);
  Nest nest;
  for (size_t id = 0; id < func.buffers.size(); ++id) {
    NestBuffer buffer{shaped.buffers[id].dtype, {}};
    const std::vector<PrimExpr>& sizes = shaped.buffers[id].dims;
    for (const PrimExpr& dim : sizes)
      if (!is_of(dim, vars)) return std::nullopt;
    if (std::ranges::all_of(sizes, [](const PrimExpr& dim) { return dim.as_const().has_value(); })) {
      for (const PrimExpr& dim : sizes) buffer.dims.push_back(*dim.as_const());
      buffer.bytes = byte_size(buffer.dtype, buffer.dims);
    }
    buffer.shape = sizes;
    const bool is_input = id < func.params - func.outputs;
    buffer.zero_fill = !is_input && !writes_whole(shaped, static_cast<BufferId>(id), vars);
    nest.buffers.push_back(std::move(buffer));
  }
  nest.scalars = func.scalars;
  nest.params = func.params;
  std::vector<BufferId> owned;
  nest.body = Converter(shaped, vars).body(shaped.body, owned);
  if (!extents_are_of(nest.body, vars)) return std::nullopt;
  nest.vars = std::move(vars);
  return nest;
}

void for_each_place(const std::vector<NestStmt>& body, const std::function<void(const Place&, bool)>& visit) {
  for (const NestStmt& stmt : body) {
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
      for_each_place(loop->body, visit);
    } else if (const auto* let = std::get_if<NestLet>(&stmt.node)) {
      visit_places(*let->value, visit);
    } else if (const auto* branch = std::get_if<NestIf>(&stmt.node)) {
      visit_places(*branch->condition, visit);
      for_each_place(branch->then_body, visit);
      for_each_place(branch->else_body, visit);
    } else {
      const auto& store = std::get<NestStore>(stmt.node);
      visit(store.place, true);
      visit_places(*store.value, visit);
    }
  }
}

}  // namespace ingot::tir
