#include "runtime/tir/vectorize.h"

#include <algorithm>
#include <map>

#include "runtime/symbolic/simplifier.h"
#include "runtime/tir/machine.h"

namespace ingot::tir {
namespace {

bool is_fold_op(ExprOp op) {
  switch (op) {
    case ExprOp::Add:
    case ExprOp::Mul:
    case ExprOp::Min:
    case ExprOp::Max:
    case ExprOp::And:
    case ExprOp::Or:
      return true;
    default:
      return false;
  }
}

bool same_place(const Place& a, const Place& b) {
  return a.buffer == b.buffer && a.proved && b.proved && same_expr(a.indices[0], b.indices[0]);
}

// What the body does with one buffer that it writes.
struct Uses {
  std::vector<const Place*> places;
  int stores = 0;
  int loads = 0;
};

void collect_stores(const std::vector<NestStmt>& body, std::vector<const NestStore*>& stores) {
  for (const NestStmt& stmt : body) {
    if (const auto* branch = std::get_if<NestIf>(&stmt.node)) {
      collect_stores(branch->then_body, stores);
      collect_stores(branch->else_body, stores);
    }
    if (const auto* store = std::get_if<NestStore>(&stmt.node)) stores.push_back(store);
  }
}

void collect_loops(const std::vector<NestStmt>& body, std::vector<const NestLoop*>& loops) {
  for (const NestStmt& stmt : body) {
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
      loops.push_back(loop);
      collect_loops(loop->body, loops);
    } else if (const auto* branch = std::get_if<NestIf>(&stmt.node)) {
      collect_loops(branch->then_body, loops);
      collect_loops(branch->else_body, loops);
    }
  }
}

bool same_parts(const LinearParts& a, const LinearParts& b) {
  const auto same = [](const LinearParts::Part& x, const LinearParts::Part& y) {
    return x.var == y.var && x.coefficient == y.coefficient;
  };
  return a.base == b.base && std::ranges::equal(a.parts, b.parts, same);
}

// Each iteration touches an element of its own, the same one in every access.
bool apart(const Uses& uses, const NestLoop& loop, const std::unordered_set<const void*>& inside) {
  if (!std::ranges::all_of(uses.places, &Place::proved)) return false;
  const LinearParts parts = linear_parts(uses.places[0]->indices[0]);
  if (!parts.rest) {
    const auto bound_inside = [&](const LinearParts::Part& part) { return inside.contains(part.var.get()); };
    return parts.coefficient_of(loop.var) != 0 && std::ranges::none_of(parts.parts, bound_inside) &&
           std::ranges::all_of(uses.places, [&](const Place* place) {
             if (place == uses.places[0]) return true;
             const LinearParts other = linear_parts(place->indices[0]);
             return !other.rest && same_parts(parts, other);
           });
  }
  const Assumptions nothing;
  std::optional<LinearForm> first;
  for (const Place* place : uses.places) {
    auto form = linear_in(place->indices[0], loop.var, nothing);
    if (!form) return false;
    const auto step = form->coefficient.as_const();
    if (!step || *step == 0 || mentions_any(form->rest, inside)) return false;
    if (first && (!same_expr(first->coefficient, form->coefficient) || !same_expr(first->rest, form->rest)))
      return false;
    first = std::move(form);
  }
  return true;
}

}  // namespace

int64_t LinearParts::coefficient_of(const SymVar& var) const {
  for (const Part& part : parts)
    if (part.var == var) return part.coefficient;
  return 0;
}

LinearParts linear_parts(const PrimExpr& expr) {
  LinearParts result;
  if (auto linear = linear_terms(expr)) {
    result.base = linear->constant;
    result.parts = std::move(linear->terms);
    return result;
  }
  const Assumptions nothing;
  const Sum sum = Simplifier(nothing).normalize(expr);
  Sum rest;
  for (const Term& term : sum.terms) {
    if (term.factors.size() == 1 && term.factors[0].op() == PrimOp::Var) {
      result.parts.push_back({term.factors[0].var(), term.coefficient});
    } else {
      rest.terms.push_back(term);
    }
  }
  result.base = sum.constant;
  if (!rest.terms.empty()) result.rest = SumAlgebra::render(rest);
  return result;
}

std::optional<Fold> as_fold(const NestStore& store) {
  const NestExpr& value = *store.value;
  if (!is_fold_op(value.op)) return std::nullopt;
  for (const bool swapped : {false, true}) {
    const NestExpr& self = *value.operands[swapped ? 1 : 0];
    if (self.op == ExprOp::Load && same_place(self.place, store.place))
      return Fold{value.op, swapped, value.operands[swapped ? 0 : 1]};
  }
  return std::nullopt;
}

bool has_inner_loop(const std::vector<NestStmt>& body) {
  return std::ranges::any_of(body, [](const NestStmt& stmt) {
    const auto* branch = std::get_if<NestIf>(&stmt.node);
    return std::holds_alternative<NestLoop>(stmt.node) ||
           (branch != nullptr && (has_inner_loop(branch->then_body) || has_inner_loop(branch->else_body)));
  });
}

void collect_bound(const std::vector<NestStmt>& body, std::unordered_set<const void*>& bound) {
  for (const NestStmt& stmt : body) {
    if (const auto* loop = std::get_if<NestLoop>(&stmt.node)) {
      bound.insert(loop->var.get());
      collect_bound(loop->body, bound);
    } else if (const auto* branch = std::get_if<NestIf>(&stmt.node)) {
      collect_bound(branch->then_body, bound);
      collect_bound(branch->else_body, bound);
    } else if (const auto* let = std::get_if<NestLet>(&stmt.node)) {
      bound.insert(let->var.get());
      if (let->var->index) bound.insert(let->var->index.get());
    }
  }
}

bool mentions_any(const PrimExpr& expr, const std::unordered_set<const void*>& vars) {
  bool found = false;
  for_each_var(expr, [&](const SymVar& var) { found |= vars.contains(var.get()); });
  return found;
}

std::optional<VectorPlan> plan_vector_loop(const NestLoop& loop) {
  std::unordered_set<const void*> inside;
  collect_bound(loop.body, inside);
  std::unordered_set<const void*> moving = inside;
  moving.insert(loop.var.get());

  std::vector<const NestLoop*> inner;
  collect_loops(loop.body, inner);
  std::unordered_set<const void*> uneven = moving;
  for (const NestLoop* each : inner) uneven.erase(each->var.get());
  for (const NestLoop* each : inner)
    if (mentions_any(each->extent, uneven)) return std::nullopt;

  std::map<BufferId, Uses> buffers;
  for_each_place(loop.body, [&](const Place& place, bool is_store) {
    Uses& uses = buffers[place.buffer];
    uses.places.push_back(&place);
    ++(is_store ? uses.stores : uses.loads);
  });
  std::vector<const NestStore*> own_stores;
  collect_stores(loop.body, own_stores);
  const auto folds = [&](BufferId id, const Uses& uses) {
    if (uses.stores != 1 || uses.loads != 1) return false;
    return std::ranges::any_of(own_stores, [&](const NestStore* store) {
      return store->place.buffer == id && store->place.proved && as_fold(*store) &&
             !mentions_any(store->place.indices[0], moving);
    });
  };

  VectorPlan plan;
  for (const auto& [id, uses] : buffers) {
    if (uses.stores == 0) continue;
    plan.stored.insert(id);
    const bool owned = std::ranges::find(loop.owned, id) != loop.owned.end();
    const bool ordered = uses.stores == 1 && uses.loads == 0 && inner.empty();
    if (apart(uses, loop, inside) || ordered || (loop.kind == LoopKind::Parallel && !owned)) continue;
    if (!folds(id, uses)) return std::nullopt;
    plan.folds.insert(id);
  }
  return plan;
}

double vector_cost(const NestLoop& loop) {
  constexpr double kStepCost = 10;
  constexpr double kNearCost = 0.5;
  constexpr double kFarCost = 4;
  const auto extent = loop.extent.as_const();
  const double lanes = static_cast<double>(std::clamp<int64_t>(extent.value_or(kLanes), 1, kLanes));
  std::vector<const NestLoop*> loops = {&loop};
  collect_loops(loop.body, loops);
  double cost = 0;
  for (const NestLoop* innermost : loops) {
    if (has_inner_loop(innermost->body)) continue;
    for_each_place(innermost->body, [&](const Place& place, bool) {
      const auto parts = place.proved ? std::optional(linear_parts(place.indices[0])) : std::nullopt;
      const int64_t stride = parts ? std::abs(parts->coefficient_of(loop.var)) : 0;
      const bool is_linear = parts && !parts->rest;
      cost += kStepCost / lanes + (is_linear && stride <= 1 ? kNearCost : kFarCost);
    });
  }
  return cost;
}

std::optional<VectorPlan> choose_vector_loop(const NestLoop& loop) {
  auto plan = plan_vector_loop(loop);
  if (!plan) return std::nullopt;
  constexpr double kScalarCost = 20;
  constexpr double kMargin = 0.8;
  std::vector<const NestLoop*> inner;
  collect_loops(loop.body, inner);
  const double own = vector_cost(loop);
  for (const NestLoop* other : inner) {
    const bool possible = plan_vector_loop(*other).has_value();
    const double cost = possible ? vector_cost(*other) : kScalarCost;
    if (!has_inner_loop(other->body) && own >= kMargin * cost) return std::nullopt;
    if (possible && cost < own) return std::nullopt;
  }
  return plan;
}

}  // namespace ingot::tir
