#pragma once
#include <optional>
#include <unordered_set>
#include <vector>

#include "runtime/symbolic/linear_sum.h"
#include "runtime/tir/nest.h"

// Which loops may run many iterations at once, statement by statement, and which of nested ones should.
namespace ingot::tir {

// A position as base + coefficients of variables + the rest, which is null or not linear.
struct LinearParts {
  using Part = LinearTerm;
  int64_t base = 0;
  std::vector<Part> parts;
  PrimExpr rest;

  int64_t coefficient_of(const SymVar& var) const;
};
LinearParts linear_parts(const PrimExpr& expr);

// buffer[p] = op(buffer[p], value) with a position that the vector loop does not move: lanes are combined one after the
// other.
struct Fold {
  ExprOp op;
  bool swapped;  // op(value, buffer[p])
  NestExprRef value;
};
std::optional<Fold> as_fold(const NestStore& store);

struct VectorPlan {
  std::unordered_set<BufferId> folds;   // whose one store is a Fold
  std::unordered_set<BufferId> stored;  // written in the loop
};
// nullopt where the result could differ from running iteration after iteration.
std::optional<VectorPlan> plan_vector_loop(const NestLoop& loop);

// A rough cost per innermost iteration where `loop` is the vector loop; less is better.
double vector_cost(const NestLoop& loop);

// Should this loop be the vector loop, rather than one inside of it?
std::optional<VectorPlan> choose_vector_loop(const NestLoop& loop);

bool has_inner_loop(const std::vector<NestStmt>& body);
// Loop indices and lets (their index variables too) that the statements bind.
void collect_bound(const std::vector<NestStmt>& body, std::unordered_set<const void*>& bound);
bool mentions_any(const PrimExpr& expr, const std::unordered_set<const void*>& vars);

}  // namespace ingot::tir
