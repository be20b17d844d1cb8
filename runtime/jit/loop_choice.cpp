#include "runtime/jit/loop_choice.h"

#include <algorithm>
#include <bit>

#include "runtime/tir/totality.h"

namespace ingot::jit {
namespace {

using tir::ExprOp;
using tir::NestExpr;
using tir::NestLoop;
using tir::NestStmt;
using tir::Place;

void for_each_expr(const NestExpr& expr, const std::function<void(const NestExpr&)>& visit) {
  visit(expr);
  for (const auto& operand : expr.operands) for_each_expr(*operand, visit);
}

void for_each_expr(const std::vector<NestStmt>& body, const std::function<void(const NestExpr&)>& visit) {
  for (const NestStmt& stmt : body) {
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
      for_each_expr(loop->body, visit);
    } else if (const auto* let = std::get_if<tir::NestLet>(&stmt.node)) {
      for_each_expr(*let->value, visit);
    } else if (const auto* branch = std::get_if<tir::NestIf>(&stmt.node)) {
      for_each_expr(*branch->condition, visit);
      for_each_expr(branch->then_body, visit);
      for_each_expr(branch->else_body, visit);
    } else {
      for_each_expr(*std::get<tir::NestStore>(stmt.node).value, visit);
    }
  }
}

// Of the loop's index and of what differs from lane to lane.
std::unordered_set<const void*> lane_vars(const NestLoop& loop) {
  std::unordered_set<const void*> vars;
  tir::collect_bound(loop.body, vars);
  std::vector<const NestLoop*> inner;
  const std::function<void(const std::vector<NestStmt>&)> walk = [&](const std::vector<NestStmt>& body) {
    for (const NestStmt& stmt : body) {
      if (const auto* each = std::get_if<NestLoop>(&stmt.node)) {
        vars.erase(each->var.get());
        walk(each->body);
      } else if (const auto* branch = std::get_if<tir::NestIf>(&stmt.node)) {
        walk(branch->then_body);
        walk(branch->else_body);
      }
    }
  };
  walk(loop.body);
  return vars;
}

enum class Reach { Same, Near, Strided, Anywhere };
Reach reach(const Place& place, const SymVar& var, const std::unordered_set<const void*>& vars) {
  const auto moves = [&](const PrimExpr& expr) {
    bool found = false;
    for_each_var(expr, [&](const SymVar& each) { found |= each == var || vars.contains(each.get()); });
    return found;
  };
  if (!place.proved) {
    Reach worst = Reach::Same;
    for (size_t d = 0; d < place.indices.size(); ++d) {
      if (!moves(place.indices[d])) continue;
      const auto parts = tir::linear_parts(place.indices[d]);
      const bool linear = !parts.rest && !tir::mentions_any(place.indices[d], vars);
      const bool near = linear && d + 1 == place.indices.size() && std::abs(parts.coefficient_of(var)) == 1;
      worst = std::max(worst, near ? Reach::Near : linear ? Reach::Strided : Reach::Anywhere);
    }
    return worst;
  }
  const auto parts = tir::linear_parts(place.indices[0]);
  if (parts.rest && moves(parts.rest)) return Reach::Anywhere;
  for (const auto& part : parts.parts)
    if (vars.contains(part.var.get())) return Reach::Anywhere;
  const int64_t stride = parts.coefficient_of(var);
  return stride == 0 ? Reach::Same : stride == 1 ? Reach::Near : Reach::Strided;
}

struct Innermost {
  const NestLoop* loop;
  std::vector<const NestLoop*> path;  // from the loop that was asked for, itself included
};
void collect_innermost(const NestLoop& loop, std::vector<const NestLoop*> path, std::vector<Innermost>& found) {
  path.push_back(&loop);
  if (!tir::has_inner_loop(loop.body)) {
    found.push_back({&loop, path});
    return;
  }
  const std::function<void(const std::vector<NestStmt>&)> walk = [&](const std::vector<NestStmt>& body) {
    for (const NestStmt& stmt : body) {
      if (const auto* inner = std::get_if<NestLoop>(&stmt.node)) {
        collect_innermost(*inner, path, found);
      } else if (const auto* branch = std::get_if<tir::NestIf>(&stmt.node)) {
        walk(branch->then_body);
        walk(branch->else_body);
      }
    }
  };
  walk(loop.body);
}

constexpr double kScalarCost = 2;

// Per element of the body of `innermost`, where `loop` around it has its iterations in lanes.
double cost(const NestLoop& innermost, const NestLoop& loop, uint8_t lanes) {
  const auto extent = loop.extent.as_const();
  const double used = static_cast<double>(std::clamp<int64_t>(extent.value_or(lanes), 1, lanes));
  const auto vars = lane_vars(loop);
  double total = 0.5;
  tir::for_each_place(innermost.body, [&](const Place& place, bool is_store) {
    switch (reach(place, loop.var, vars)) {
      case Reach::Same:
        total += is_store ? 1 : 0.5;
        break;
      case Reach::Near:
        total += 1;
        break;
      default:
        total += 0.7 * lanes;
    }
  });
  return total / used;
}

double scalar_cost(const NestLoop& innermost) {
  double total = 0.5;
  tir::for_each_place(innermost.body, [&](const Place&, bool) { total += kScalarCost; });
  return total;
}

// Stores that all lanes make to one place, and sums whose order counts, are left to loops.
bool takes(const NestLoop& loop, const tir::VectorPlan& plan) {
  const auto vars = lane_vars(loop);
  bool good = true;
  const std::function<void(const std::vector<NestStmt>&)> walk = [&](const std::vector<NestStmt>& body) {
    for (const NestStmt& stmt : body) {
      if (const auto* inner = std::get_if<NestLoop>(&stmt.node)) {
        walk(inner->body);
      } else if (const auto* branch = std::get_if<tir::NestIf>(&stmt.node)) {
        walk(branch->then_body);
        walk(branch->else_body);
      } else if (const auto* store = std::get_if<tir::NestStore>(&stmt.node)) {
        const bool folds = plan.folds.contains(store->place.buffer);
        if (!folds && reach(store->place, loop.var, vars) == Reach::Same) good = false;
        const auto fold = folds ? tir::as_fold(*store) : std::nullopt;
        const bool rounds =
            is_float(store->value->dtype) && fold && (fold->op == ExprOp::Add || fold->op == ExprOp::Mul);
        if (rounds && loop.kind != tir::LoopKind::Reduce) good = false;
      }
    }
  };
  walk(loop.body);
  return good;
}

bool has_branch(const std::vector<NestStmt>& body) {
  return std::ranges::any_of(body, [](const NestStmt& stmt) {
    const auto* loop = std::get_if<NestLoop>(&stmt.node);
    return std::holds_alternative<tir::NestIf>(stmt.node) || (loop != nullptr && has_branch(loop->body));
  });
}

std::optional<tir::VectorPlan> plan_of(const NestLoop& loop) {
  if (loop.extent.is_const(1)) return std::nullopt;
  auto plan = tir::plan_vector_loop(loop);
  if (plan && !takes(loop, *plan)) return std::nullopt;
  return plan;
}

}  // namespace

bool is_series(ExprOp op) { return (op >= ExprOp::Exp && op <= ExprOp::Sigmoid) || op == ExprOp::Gelu; }

bool has_series(const NestExpr& expr) {
  return is_series(expr.op) ||
         std::ranges::any_of(expr.operands, [](const auto& operand) { return has_series(*operand); });
}

bool is_extreme(const tir::Fold& fold, DType dtype) {
  return (fold.op == ExprOp::Min || fold.op == ExprOp::Max) && is_float(dtype) && dtype_bytes(dtype) < 8;
}

bool is_row(const NestLoop& loop, tir::BufferId buffer) {
  bool result = true;
  tir::for_each_place(loop.body, [&](const tir::Place& place, bool) {
    if (place.buffer != buffer || !result) return;
    const auto parts = place.proved ? tir::linear_parts(place.indices[0]) : tir::LinearParts{};
    result = !parts.rest && parts.base == 0 && parts.parts.size() == 1 && parts.coefficient_of(loop.var) == 1;
  });
  return result;
}

bool fills_lines(const tir::Place& place, const SymVar& var, DType dtype) {
  constexpr int64_t kLine = 64;
  const auto bytes = static_cast<int64_t>(dtype_bytes(dtype));
  if (!place.proved || place.guarded || bytes < 4) return false;
  const auto parts = tir::linear_parts(place.indices[0]);
  if (parts.rest || parts.coefficient_of(var) != 1 || parts.base * bytes % kLine != 0) return false;
  return std::ranges::all_of(parts.parts, [&](const tir::LinearParts::Part& part) {
    return part.var == var || part.coefficient * bytes % kLine == 0;
  });
}

bool is_independent(const NestLoop& loop) {
  const auto plan = plan_of(loop);
  if (!plan || !plan->folds.empty()) return false;
  const auto vars = lane_vars(loop);
  bool apart = true;
  tir::for_each_place(loop.body, [&](const Place& place, bool is_store) {
    const Reach how = reach(place, loop.var, vars);
    const bool owned = std::ranges::find(loop.owned, place.buffer) != loop.owned.end();
    if (is_store && !owned && how != Reach::Near && how != Reach::Strided) apart = false;
    if (is_store && !place.proved) apart = false;
  });
  return apart;
}

std::optional<LaneLoop> choose_lanes(const NestLoop& loop, uint8_t lanes) {
  auto plan = plan_of(loop);
  if (!plan) return std::nullopt;
  std::vector<Innermost> innermost;
  collect_innermost(loop, {}, innermost);
  double own = 0;
  double other = 0;
  for (const Innermost& each : innermost) {
    own += cost(*each.loop, loop, lanes);
    double best = scalar_cost(*each.loop);
    for (const NestLoop* inner : each.path)
      if (inner != &loop && plan_of(*inner)) best = std::min(best, cost(*each.loop, *inner, lanes));
    other += best;
  }
  constexpr double kMargin = 1.2;
  if (own * (innermost[0].loop == &loop ? 1 : kMargin) > other) return std::nullopt;

  LaneLoop result{std::move(*plan), lanes, 1};
  const auto vars = lane_vars(loop);
  bool wide = false;
  size_t operations = 0;
  for_each_expr(loop.body, [&](const NestExpr& expr) {
    const bool weighs = expr.op != ExprOp::Const && expr.op != ExprOp::Let;
    operations += weighs ? (is_series(expr.op) ? 12 : 1) : 0;
    wide |= dtype_bytes(expr.dtype) == 8;
  });
  // Checks of indices that differ from lane to lane hold them as int64.
  tir::for_each_place(loop.body, [&](const Place& place, bool) {
    const Reach how = reach(place, loop.var, vars);
    wide |= how == Reach::Anywhere || (how != Reach::Same && !place.proved);
  });
  for (const NestStmt& stmt : loop.body)
    if (const auto* store = std::get_if<tir::NestStore>(&stmt.node)) wide |= dtype_bytes(store->value->dtype) == 8;
  if (wide) result.lanes = static_cast<uint8_t>(lanes / 2);
  const bool nested = tir::has_inner_loop(loop.body);
  const bool many_registers = lanes == 16;
  result.jam = operations <= 4 ? 4 : operations <= (many_registers ? 30 : 12) ? 2 : 1;
  // Sums wait for themselves.
  const bool folds = !result.plan.folds.empty();
  if (operations <= 8 && folds) result.jam = 4;
  if (operations <= 4 && (nested || folds)) result.jam = many_registers ? 8 : 4;
  for (const NestStmt& stmt : loop.body)
    if (const auto* store = std::get_if<tir::NestStore>(&stmt.node); store && folds)
      if (const auto fold = tir::as_fold(*store); fold && is_extreme(*fold, store->value->dtype))
        result.jam = std::min(result.jam, many_registers ? 4u : 2u);
  if (has_branch(loop.body)) result.jam = 1;
  const int64_t extent = loop.extent.as_const().value_or(INT64_MAX);
  while (result.jam > 1 && extent < static_cast<int64_t>(result.lanes * result.jam)) result.jam /= 2;
  return result;
}

}  // namespace ingot::jit
