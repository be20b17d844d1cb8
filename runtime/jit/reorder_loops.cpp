#include "runtime/jit/reorder_loops.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/symbolic/simplify.h"
#include "runtime/tir/vectorize.h"

namespace ingot::jit {
namespace {

using tir::ExprOp;
using tir::NestExpr;
using tir::NestExprRef;
using tir::NestLoop;
using tir::NestStmt;
using tir::NestStore;
using tir::Place;

Place replaced(Place place, const SymVar& var, const PrimExpr& by) {
  for (PrimExpr& index : place.indices)
    index = substitute(index, [&](const SymVar& each) { return each == var ? std::optional(by) : std::nullopt; });
  return place;
}

NestExprRef replaced(const NestExprRef& expr, const SymVar& var, const PrimExpr& by) {
  NestExpr made = *expr;
  if (made.op == ExprOp::Index)
    made.index =
        substitute(made.index, [&](const SymVar& each) { return each == var ? std::optional(by) : std::nullopt; });
  if (made.op == ExprOp::Load) made.place = replaced(std::move(made.place), var, by);
  for (NestExprRef& operand : made.operands) operand = replaced(operand, var, by);
  return std::make_shared<const NestExpr>(std::move(made));
}

bool all_loads(const NestExpr& expr, const std::function<bool(const Place&)>& holds) {
  if (expr.op == ExprOp::Load && !holds(expr.place)) return false;
  return std::ranges::all_of(expr.operands, [&](const NestExprRef& part) { return all_loads(*part, holds); });
}

constexpr int64_t kLeastWork = int64_t{1} << 15;
constexpr int64_t kLeastBlock = 512, kMostBlock = 32768;
// Of a sum that threads share, in columns: whole lines, and enough of them to walk along.
constexpr int64_t kLine = 16, kLeastShare = 128, kLeastSharedWork = int64_t{1} << 17;

// 0 where no block divides the extent.
int64_t block_of(int64_t extent) {
  if (extent <= kMostBlock) return extent;
  for (int64_t block = kMostBlock; block >= kLeastBlock; --block)
    if (extent % block == 0) return block;
  return 0;
}

// The greatest number of columns, at most an equal share, that cuts the extent without a rest; `extent` where there is
// none.
int64_t share_of(int64_t extent, int threads) {
  for (int64_t share = extent / threads / kLine * kLine; share >= kLeastShare; share -= kLine)
    if (extent % share == 0) return share;
  return extent;
}

// So many rows are added up before their sum goes to the results: these are read and written less often, and memory is
// read in several places at once. Results that lie in the first cache gain nothing.
int64_t rows_together(int64_t count, int64_t block) {
  constexpr int64_t kBlockInFirstCache = 4096;
  if (block <= kBlockInFirstCache) return 1;
  for (const int64_t rows : {4, 2})
    if (count % rows == 0) return rows;
  return 1;
}

// The fold of `rows` values at a time, the index of the first being `rows` times the variable.
NestStore of_rows(const NestStore& store, const tir::Fold& fold, const SymVar& var, int64_t rows) {
  std::vector<NestExprRef> parts;
  for (int64_t i = 0; i < rows; ++i) parts.push_back(replaced(fold.value, var, PrimExpr(var) * rows + i));
  const auto joined = [&](NestExprRef a, NestExprRef b) {
    NestExpr made{store.value->op, store.value->dtype};
    made.operands = {std::move(a), std::move(b)};
    return std::make_shared<const NestExpr>(std::move(made));
  };
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i) parts[i] = joined(parts[2 * i], parts[2 * i + 1]);
  return {store.place, joined(store.value->operands[fold.swapped ? 1 : 0], parts[0])};
}

// `threads`: how many may share the columns.
std::optional<std::vector<NestStmt>> interchanged(const NestLoop& loop, int threads) {
  if (loop.body.size() != 2 || !loop.owned.empty() || loop.kind == tir::LoopKind::Reduce) return std::nullopt;
  const auto* init = std::get_if<NestStore>(&loop.body[0].node);
  const auto* over = std::get_if<NestLoop>(&loop.body[1].node);
  if (!init || !over || over->kind != tir::LoopKind::Reduce || over->body.size() != 1 || !over->owned.empty())
    return std::nullopt;
  const auto* sum = std::get_if<NestStore>(&over->body[0].node);
  const auto fold = sum ? tir::as_fold(*sum) : std::nullopt;
  const auto extent = loop.extent.as_const();
  const auto count = over->extent.as_const();
  if (!fold || !extent || *extent < 16 || !init->place.proved) return std::nullopt;
  if (count && (*count < 2 || *extent > INT64_MAX / *count || *extent * *count < kLeastWork)) return std::nullopt;
  if (!count && tir::mentions_any(over->extent, {loop.var.get()})) return std::nullopt;
  const Place& target = init->place;
  if (sum->place.buffer != target.buffer || !same_expr(sum->place.indices[0], target.indices[0])) return std::nullopt;
  if (tir::linear_parts(target.indices[0]).coefficient_of(loop.var) != 1) return std::nullopt;
  if (!all_loads(*init->value, [&](const Place& place) { return place.buffer != target.buffer; })) return std::nullopt;
  bool walks_rows = false;
  const bool fits = all_loads(*fold->value, [&](const Place& place) {
    if (!place.proved || place.buffer == target.buffer) return false;
    const auto parts = tir::linear_parts(place.indices[0]);
    const int64_t along = parts.coefficient_of(loop.var);
    if (parts.rest || (along != 0 && along != 1)) return false;
    walks_rows |= along == 1 && std::abs(parts.coefficient_of(over->var)) > 1;
    return along == 1 || std::abs(parts.coefficient_of(over->var)) != 1;
  });
  int64_t block = block_of(*extent);
  if (!fits || !walks_rows || block == 0) return std::nullopt;
  const int64_t together = count ? rows_together(*count, block) : 1;
  if (threads > 1 && block == *extent && (!count || *extent * *count >= kLeastSharedWork))
    block = share_of(*extent, threads);

  const SymVar first = make_sym_var(loop.var->name), second = make_sym_var(loop.var->name);
  const SymVar blocks = make_sym_var(loop.var->name);
  const bool whole = block == *extent;
  const auto at = [&](const SymVar& var) { return whole ? PrimExpr(var) : PrimExpr(blocks) * block + PrimExpr(var); };
  NestLoop start{first, block, tir::LoopKind::Serial, {{with_index(*init, loop.var, at(first))}}, {}};
  const NestStore added = together == 1 ? *sum : of_rows(*sum, *fold, over->var, together);
  NestLoop row{second, block, tir::LoopKind::Serial, {{with_index(added, loop.var, at(second))}}, {}};
  NestLoop rows{
      over->var, count ? PrimExpr(*count / together) : over->extent, tir::LoopKind::Serial, {{std::move(row)}}, {}};
  std::vector<NestStmt> both;
  both.push_back({std::move(start)});
  both.push_back({std::move(rows)});
  if (whole) return both;
  // Results are written by one iteration each, and nobody reads them but the one that adds to them.
  return std::vector<NestStmt>{{NestLoop{blocks, *extent / block, tir::LoopKind::Parallel, std::move(both), {}}}};
}

void interchange(std::vector<NestStmt>& list, int threads) {
  std::vector<NestStmt> result;
  for (NestStmt& stmt : list) {
    auto* loop = std::get_if<NestLoop>(&stmt.node);
    auto made = loop ? interchanged(*loop, threads) : std::nullopt;
    if (made) {
      std::ranges::move(*made, std::back_inserter(result));
      continue;
    }
    if (loop) interchange(loop->body, 1);
    result.push_back(std::move(stmt));
  }
  list = std::move(result);
}

using Places = std::unordered_map<tir::BufferId, std::vector<Place>>;
struct Accesses {
  Places all;
  std::unordered_set<tir::BufferId> stored;
};
Accesses accesses_of(const std::vector<NestStmt>& body) {
  Accesses result;
  tir::for_each_place(body, [&](const Place& place, bool is_store) {
    result.all[place.buffer].push_back(place);
    if (is_store) result.stored.insert(place.buffer);
  });
  return result;
}

bool touches(const Accesses& accesses, const Accesses& stores) {
  return std::ranges::any_of(stores.stored, [&](tir::BufferId buffer) { return accesses.all.contains(buffer); });
}

bool is_plain(const NestStmt& stmt) {
  if (std::holds_alternative<NestStore>(stmt.node)) return true;
  const auto* let = std::get_if<tir::NestLet>(&stmt.node);
  return let != nullptr && !let->var->index;
}

// May iteration i of the second loop run right behind that of the first one? So where they share what one of them
// writes, each iteration has an element of its own.
std::optional<NestLoop> joined(const NestLoop& first, const NestLoop& second) {
  if (!same_expr(first.extent, second.extent) || !first.owned.empty() || !second.owned.empty()) return std::nullopt;
  if (!std::ranges::all_of(first.body, is_plain) || !std::ranges::all_of(second.body, is_plain)) return std::nullopt;
  NestLoop result = first;
  if (second.kind != first.kind) result.kind = tir::LoopKind::Serial;
  if (first.kind == tir::LoopKind::Reduce || second.kind == tir::LoopKind::Reduce) result.kind = tir::LoopKind::Reduce;
  std::vector<NestStmt> rest;
  for (const NestStmt& stmt : second.body) {
    if (const auto* let = std::get_if<tir::NestLet>(&stmt.node)) {
      rest.push_back({tir::NestLet{let->var, replaced(let->value, second.var, first.var)}});
    } else {
      rest.push_back({with_index(std::get<NestStore>(stmt.node), second.var, first.var)});
    }
  }
  const Accesses before = accesses_of(first.body), after = accesses_of(rest);
  bool shares = false;
  for (const auto& [buffer, places] : before.all) {
    const auto others = after.all.find(buffer);
    if (others == after.all.end()) continue;
    shares = true;
    if (!before.stored.contains(buffer) && !after.stored.contains(buffer)) continue;
    for (const auto* list : {&places, &others->second})
      for (const Place& place : *list) {
        if (!place.proved || !same_expr(place.indices[0], places[0].indices[0])) return std::nullopt;
        if (tir::linear_parts(place.indices[0]).coefficient_of(first.var) == 0) return std::nullopt;
      }
  }
  if (!shares) return std::nullopt;
  std::ranges::move(rest, std::back_inserter(result.body));
  if (!tir::plan_vector_loop(result)) return std::nullopt;
  return result;
}

// The stores between the two loops move in front of both.
void join(std::vector<NestStmt>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    auto* first = std::get_if<NestLoop>(&list[i].node);
    if (first == nullptr) continue;
    join(first->body);
    size_t next = i + 1;
    while (next < list.size() && std::holds_alternative<NestStore>(list[next].node)) ++next;
    auto* second = next < list.size() ? std::get_if<NestLoop>(&list[next].node) : nullptr;
    auto made = second ? joined(*first, *second) : std::nullopt;
    if (!made) continue;
    const std::vector<NestStmt> between(list.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                        list.begin() + static_cast<std::ptrdiff_t>(next));
    const Accesses loop = accesses_of(first->body), moved = accesses_of(between);
    if (touches(loop, moved) || touches(moved, loop)) continue;
    list[next].node = std::move(*made);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    --i;
  }
}

// The loops around one store, from `depth` on, those of `row` and `column` over parts of their extents.
NestStmt border(const std::vector<const NestLoop*>& loops, size_t depth, const NestStore& store,
                const std::function<std::pair<int64_t, int64_t>(const NestLoop&)>& range) {
  if (depth == loops.size()) return {store};
  const NestLoop& loop = *loops[depth];
  const auto [begin, end] = range(loop);
  const SymVar var = make_sym_var(loop.var->name);
  const NestStore moved = with_index(store, loop.var, PrimExpr(var) + begin);
  return {NestLoop{var, end - begin, loop.kind, {border(loops, depth + 1, moved, range)}, {}}};
}

// Loops around one store of what one load gives, 4 bytes each.
struct Copy {
  std::vector<const NestLoop*> loops;
  const NestStore* store;
};
std::optional<Copy> as_copy(const NestStmt& stmt) {
  Copy copy{};
  const NestStmt* inner = &stmt;
  while (const auto* loop = std::get_if<NestLoop>(&inner->node)) {
    if (loop->body.size() != 1 || !loop->owned.empty()) return std::nullopt;
    copy.loops.push_back(loop);
    inner = &loop->body[0];
  }
  copy.store = std::get_if<NestStore>(&inner->node);
  if (!copy.store || copy.loops.size() < 2 || copy.store->value->op != ExprOp::Load ||
      dtype_bytes(copy.store->value->dtype) != 4)
    return std::nullopt;
  const Place& from = copy.store->value->place;
  if (!copy.store->place.proved || !from.proved || from.guarded || from.buffer == copy.store->place.buffer)
    return std::nullopt;
  return copy;
}

}  // namespace

NestStore with_index(const NestStore& store, const SymVar& var, const PrimExpr& by) {
  return {replaced(store.place, var, by), replaced(store.value, var, by)};
}

void interchange_sums(tir::Nest& nest, int threads) { interchange(nest.body, threads); }

void join_loops(tir::Nest& nest) {
  for (NestStmt& stmt : nest.body)
    if (auto* loop = std::get_if<NestLoop>(&stmt.node)) join(loop->body);
}

std::optional<ShapedCopy> as_shaped_copy(const NestStmt& stmt) {
  const auto copy = as_copy(stmt);
  if (!copy) return std::nullopt;
  const PrimExpr& source = copy->store->value->place.indices[0];
  const PrimExpr& target = copy->store->place.indices[0];
  const Assumptions nothing;
  const auto step = [&](const PrimExpr& index, const NestLoop* loop) {
    const auto form = linear_in(index, loop->var, nothing);
    return form ? form->coefficient : PrimExpr();
  };
  const auto loop_along = [&](const PrimExpr& index) {
    return std::ranges::find_if(copy->loops, [&](const NestLoop* loop) {
      const PrimExpr each = step(index, loop);
      return each && each.is_const(1);
    });
  };
  const auto row = loop_along(source), column = loop_along(target);
  if (row == copy->loops.end() || column == copy->loops.end() || row == column) return std::nullopt;
  ShapedCopy result{{}, *row, *column, copy->store, step(source, *column), step(target, *row)};
  if (!result.from_step || !result.to_step) return std::nullopt;
  for (const NestLoop* loop : copy->loops)
    if (loop != *row && loop != *column) result.outer.push_back(loop);
  return result;
}

std::optional<TiledCopy> as_tiled_copy(const NestStmt& stmt, int64_t tile) {
  const auto copy = as_copy(stmt);
  if (!copy) return std::nullopt;
  const auto& loops = copy->loops;
  const NestStore* store = copy->store;
  for (const NestLoop* loop : loops)
    if (loop->extent.as_const().value_or(0) < 1) return std::nullopt;
  const auto source = tir::linear_parts(store->value->place.indices[0]);
  const auto target = tir::linear_parts(store->place.indices[0]);
  if (source.rest || target.rest) return std::nullopt;

  TiledCopy result{{}, nullptr, nullptr, store, 0, 0, {}};
  for (const NestLoop* loop : loops) {
    if (source.coefficient_of(loop->var) == 1 && *loop->extent.as_const() > 1) result.row = loop;
    if (target.coefficient_of(loop->var) == 1 && *loop->extent.as_const() > 1) result.column = loop;
  }
  if (!result.row || !result.column || result.row == result.column) return std::nullopt;
  const int64_t row_extent = *result.row->extent.as_const();
  const int64_t column_extent = *result.column->extent.as_const();
  result.rows = row_extent / tile * tile;
  result.columns = column_extent / tile * tile;
  if (result.rows == 0 || result.columns == 0) return std::nullopt;
  for (const NestLoop* loop : loops)
    if (loop != result.row && loop != result.column) result.outer.push_back(loop);

  if (result.columns < column_extent)
    result.borders.push_back(border(loops, 0, *store, [&](const NestLoop& loop) {
      return std::pair(&loop == result.column ? result.columns : int64_t{0}, *loop.extent.as_const());
    }));
  if (result.rows < row_extent)
    result.borders.push_back(border(loops, 0, *store, [&](const NestLoop& loop) {
      const int64_t end = &loop == result.column ? result.columns : *loop.extent.as_const();
      return std::pair(&loop == result.row ? result.rows : int64_t{0}, end);
    }));
  return result;
}

}  // namespace ingot::jit
