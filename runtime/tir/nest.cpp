#include "runtime/tir/nest.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/symbolic/simplify.h"
#include "runtime/tir/accesses.h"
#include "runtime/tir/checker.h"
#include "runtime/tir/substitute.h"

namespace ingot::tir {
namespace {

using Values = std::unordered_map<const SymVarNode*, int64_t>;

Bindings lookup(const Values& values) {
  return [&values](const SymVar& var) -> std::optional<int64_t> {
    const auto found = values.find(var.get());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

void require_dim(const PrimFunc& func, size_t buffer, size_t d, int64_t dim, int64_t expected) {
  if (dim != expected || dim < 0)
    fail(ErrorCode::ShapeMismatch, "{}: dimension {} of {} is {}, expected {} = {}", func.name, d,
         func.buffers[buffer].name, dim, to_text(func.buffers[buffer].dims[d]), expected);
}

// Variables from the dimensions where they stand alone, then the rest compared.
Values bind_dims(const PrimFunc& func, std::span<const std::vector<int64_t>> dims) {
  if (dims.size() != func.params)
    fail(ErrorCode::ShapeMismatch, "{}: {} buffers are given, the function has {}", func.name, dims.size(),
         func.params);
  Values values;
  for (size_t i = 0; i < func.params; ++i) {
    const Buffer& buffer = func.buffers[i];
    if (dims[i].size() != buffer.dims.size())
      fail(ErrorCode::ShapeMismatch, "{}: {} has {} dimensions, expected {}", func.name, buffer.name, dims[i].size(),
           buffer.dims.size());
    for (size_t d = 0; d < dims[i].size(); ++d)
      if (buffer.dims[d].op() == PrimOp::Var) values.try_emplace(buffer.dims[d].var().get(), dims[i][d]);
  }
  for (size_t i = 0; i < func.params; ++i) {
    const Buffer& buffer = func.buffers[i];
    for (size_t d = 0; d < dims[i].size(); ++d) {
      bool known = true;
      for_each_var(buffer.dims[d], [&](const SymVar& var) { known &= values.contains(var.get()); });
      const int64_t expected = known ? evaluate(buffer.dims[d], lookup(values)) : dims[i][d];
      require_dim(func, i, d, dims[i][d], expected);
    }
  }
  return values;
}

// " where n = 3, m = 2"
std::string values_text(const PrimExpr& expr, const Bindings& known) {
  std::string text;
  std::vector<SymVar> named;
  for_each_var(expr, [&](const SymVar& var) {
    const auto value = known(var);
    if (!value || std::ranges::find(named, var) != named.end()) return;
    text += fmt::format("{}{} = {}", named.empty() ? " where " : ", ", var->name, *value);
    named.push_back(var);
  });
  return text;
}

size_t checked_bytes(const PrimFunc& func, const Buffer& buffer, const std::vector<int64_t>& dims,
                     const Bindings& known) {
  std::optional<size_t> bytes = dtype_bytes(buffer.dtype);
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t dim = dims[d];
    if (const PrimExpr& expr = buffer.dims[d]; dim < 0 && expr.op() == PrimOp::Select)
      fail(ErrorCode::ShapeMismatch, "{}: {}: {} does not hold{}", func.name, buffer.name, to_text(expr.operands()[0]),
           values_text(expr.operands()[0], known));
    if (dim < 0) fail(ErrorCode::ShapeMismatch, "{}: {} has the dimension {}", func.name, buffer.name, dim);
    if (dim == 0) return 0;
    if (bytes) bytes = checked_mul(*bytes, static_cast<size_t>(dim));
  }
  if (!bytes || *bytes > PTRDIFF_MAX)
    fail(ErrorCode::ShapeMismatch, "{}: the size of {} overflows", func.name, buffer.name);
  return *bytes;
}

bool mentions(const PrimExpr& expr, const SymVar& var) {
  bool found = false;
  for_each_var(expr, [&](const SymVar& other) { found |= other == var; });
  return found;
}

bool divides_by(const PrimExpr& expr, const SymVar& var) {
  const bool here = (expr.op() == PrimOp::FloorDiv || expr.op() == PrimOp::FloorMod) && mentions(expr, var);
  return here || std::ranges::any_of(expr.operands(), [&](const PrimExpr& part) { return divides_by(part, var); });
}

// Replaces the indices of two nested loops by quotient and remainder of one; fails where that leaves a division.
class Collapse {
 public:
  static std::optional<NestLoop> attempt(const NestLoop& outer, const Assumptions& around) {
    if (outer.body.size() != 1 || !outer.owned.empty()) return std::nullopt;
    const auto* inner = std::get_if<NestLoop>(&outer.body[0].node);
    if (!inner) return std::nullopt;
    const auto rows = outer.extent.as_const();
    const auto columns = inner->extent.as_const();
    const bool reduces = outer.kind == LoopKind::Reduce;
    if (!rows || !columns || *rows < 1 || *columns < 1 || reduces != (inner->kind == LoopKind::Reduce))
      return std::nullopt;
    const auto extent = checked_mul(*rows, *columns);
    if (!extent) return std::nullopt;
    Collapse collapse(outer.var, inner->var, *columns, *extent, around);
    LoopKind kind = reduces ? LoopKind::Reduce : LoopKind::Serial;
    if (outer.kind == LoopKind::Parallel && inner->kind == LoopKind::Parallel) kind = LoopKind::Parallel;
    NestLoop result{collapse.both_, *extent, kind, collapse.body(inner->body), {}};
    return collapse.ok_ ? std::optional(std::move(result)) : std::nullopt;
  }

 private:
  Collapse(SymVar row, SymVar column, int64_t columns, int64_t extent, const Assumptions& around)
      : row_(std::move(row)), column_(std::move(column)), columns_(columns), facts_(around) {
    both_ = make_sym_var(column_->name);
    facts_.below(both_, extent);
  }

  PrimExpr expr(const PrimExpr& before) {
    if (!mentions(before, row_) && !mentions(before, column_)) return before;
    const PrimExpr both = both_;
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
  int64_t columns_;
  Assumptions facts_;
  bool ok_ = true;
};

class Converter {
 public:
  explicit Converter(const PrimFunc& func)
      : func_(func), proofs_(prove_bounds(func)), facts_(FuncFacts(func).inside({})) {}

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
    if (auto collapsed = Collapse::attempt(result, around)) return std::move(*collapsed);
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

Nest make_nest(const PrimFunc& func, std::span<const std::vector<int64_t>> dims, std::span<const int64_t> scalars) {
  Nest nest;
  Values values = bind_dims(func, dims);
  if (!scalars.empty() && scalars.size() != func.scalars.size())
    fail(ErrorCode::InvalidArgument, "{}: {} scalars are given, the function has {}", func.name, scalars.size(),
         func.scalars.size());
  for (size_t i = 0; i < func.scalars.size(); ++i) {
    std::optional<int64_t> value;
    if (const SymVar& index = func.scalars[i].var->index) {
      const auto found = values.find(index.get());
      if (found != values.end()) value = found->second;
      if (!value && !scalars.empty()) value = scalars[i];
      if (value) values.try_emplace(index.get(), *value);
    }
    nest.scalar_values.push_back(value);
  }
  nest.scalars = func.scalars;
  nest.params = func.params;

  const Bindings known = lookup(values);
  const PrimFunc concrete = substitute(func, [&](const SymVar& var) -> std::optional<PrimExpr> {
    const auto value = known(var);
    return value ? std::optional(PrimExpr(*value)) : std::nullopt;
  });
  for (size_t id = 0; id < func.buffers.size(); ++id) {
    NestBuffer buffer{func.buffers[id].dtype, {}};
    for (size_t d = 0; d < concrete.buffers[id].dims.size(); ++d) {
      const PrimExpr& dim = concrete.buffers[id].dims[d];
      bool constant = true;
      for_each_var(dim, [&](const SymVar&) { constant = false; });
      if (!constant)
        fail(ErrorCode::InvalidArgument, "{}: the size of {} needs the values of scalars", func.name,
             func.buffers[id].name);
      buffer.dims.push_back(evaluate(dim, known));
      // Those that scalars tell were not compared before.
      if (id < func.params) require_dim(func, id, d, dims[id][d], buffer.dims.back());
    }
    buffer.bytes = checked_bytes(func, func.buffers[id], buffer.dims, known);
    const bool is_input = id < func.params - func.outputs;
    buffer.zero_fill = !is_input && buffer.bytes != 0 && !writes_whole(concrete, static_cast<BufferId>(id));
    nest.buffers.push_back(std::move(buffer));
  }
  std::vector<BufferId> owned;
  nest.body = Converter(concrete).body(concrete.body, owned);
  Assumptions facts;
  nest.work = std::max<uint64_t>(work_of(nest.body, facts), 1);
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
