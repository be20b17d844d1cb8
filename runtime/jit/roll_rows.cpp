#include "runtime/jit/roll_rows.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "runtime/jit/loop_choice.h"
#include "runtime/jit/reorder_loops.h"
#include "runtime/tir/vectorize.h"

namespace ingot::jit {
namespace {

using tir::BufferId;
using tir::NestLoop;
using tir::NestStmt;
using tir::NestStore;
using tir::Place;

bool is_loop(const NestStmt& stmt) { return std::holds_alternative<NestLoop>(stmt.node); }
bool is_store(const NestStmt& stmt) { return std::holds_alternative<NestStore>(stmt.node); }

struct Touched {
  std::unordered_set<BufferId> loaded, stored;

  bool has(BufferId buffer) const { return loaded.contains(buffer) || stored.contains(buffer); }
};
Touched touched_by(const std::vector<NestStmt>& body) {
  Touched result;
  tir::for_each_place(
      body, [&](const Place& place, bool stores) { (stores ? result.stored : result.loaded).insert(place.buffer); });
  return result;
}

std::vector<NestStmt> replaced(const std::vector<NestStmt>& stores, const SymVar& var, const PrimExpr& by) {
  std::vector<NestStmt> result;
  for (const NestStmt& stmt : stores) result.push_back({with_index(std::get<NestStore>(stmt.node), var, by)});
  return result;
}

void append(std::vector<NestStmt>& list, const std::vector<NestStmt>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

std::optional<RolledRows> roll_rows(const NestLoop& row, size_t ahead, bool follows, bool shares) {
  const auto& list = row.body;
  if (row.kind != tir::LoopKind::Parallel && !is_independent(row)) return std::nullopt;
  if (ahead == 0 || std::ranges::count_if(list, is_loop) != 3 || !is_loop(list.back())) return std::nullopt;
  const auto at = [&](size_t i) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto middle_at = std::find_if(at(ahead), list.end(), is_loop);
  const auto& first = std::get<NestLoop>(at(ahead - 1)->node);
  const auto& middle = std::get<NestLoop>(middle_at->node);
  const auto& last = std::get<NestLoop>(list.back().node);
  for (const NestLoop* loop : {&first, &middle, &last})
    if (!loop->extent.as_const() || loop->extent.as_const() != middle.extent.as_const() || !loop->owned.empty() ||
        !std::ranges::all_of(loop->body, is_store))
      return std::nullopt;

  const bool computes = std::ranges::any_of(
      middle.body, [](const NestStmt& stmt) { return has_series(*std::get<NestStore>(stmt.node).value); });
  if (!computes) return std::nullopt;

  RolledRows result{make_sym_var("next"), make_sym_var("behind"), {}, {}, {}, {}, middle, middle, last, {}};
  const std::vector<NestStmt> start(list.begin(), at(ahead - 1));
  result.before.assign(at(ahead), middle_at);
  result.between.assign(middle_at + 1, list.end() - 1);
  for (const std::span<const NestStmt> stores :
       {std::span(start), std::span(std::as_const(result.before)), std::span(std::as_const(result.between))})
    if (!std::ranges::all_of(stores, is_store)) return std::nullopt;

  // The first loop of a row runs beside those that read what it left for the row in front: in registers.
  const auto has_start = [&](const NestStmt& stmt) {
    const auto& store = std::get<NestStore>(stmt.node);
    const auto is_its = [&](const NestStmt& each) {
      return std::get<NestStore>(each.node).place.buffer == store.place.buffer;
    };
    return tir::as_fold(store) && std::ranges::count_if(start, is_its) == 1 &&
           std::ranges::count_if(first.body, is_its) == 1;
  };
  if (!follows && (start.size() != first.body.size() || !std::ranges::all_of(first.body, has_start)))
    return std::nullopt;

  // The last loop of a row runs behind what the next row begins with: it needs its own elements, and numbers that only
  // `between` makes.
  std::vector<NestStmt> others = start;
  append(others, first.body);
  append(others, result.before);
  const Touched in_front = touched_by(others);
  append(others, middle.body);
  const Touched in_last = touched_by(last.body), in_others = touched_by(others), between = touched_by(result.between);
  const auto is_shared = [&](BufferId buffer) {
    return shares && !in_front.has(buffer) && !between.has(buffer) && is_row(middle, buffer) && is_row(last, buffer);
  };
  const auto is_owned = [&](BufferId buffer) { return std::ranges::find(row.owned, buffer) != row.owned.end(); };
  for (const BufferId buffer : in_last.stored)
    if (is_owned(buffer)) return std::nullopt;
  for (const BufferId buffer : in_last.loaded)
    if (is_owned(buffer) && in_others.stored.contains(buffer) && !is_shared(buffer)) return std::nullopt;
  for (const BufferId buffer : between.stored)
    if (!is_owned(buffer) || in_others.has(buffer)) return std::nullopt;

  const auto for_row = [&](const NestLoop& loop, const SymVar& other) {
    return replaced(replaced(loop.body, loop.var, middle.var), row.var, other);
  };
  result.start = replaced(start, row.var, result.next);
  std::vector<NestStmt> of_next = for_row(first, result.next);
  result.first.body.clear();
  if (follows) {
    NestLoop alone = middle;
    alone.kind = first.kind;
    alone.body = std::move(of_next);
    result.follow = std::exchange(result.start, {});
    result.follow.push_back({std::move(alone)});
  } else {
    result.sizes.push_back(of_next.size());
    result.first.body = std::move(of_next);
  }
  append(result.first.body, middle.body);
  result.all.body = for_row(last, result.behind);
  append(result.all.body, result.first.body);
  result.sizes.insert(result.sizes.begin(), last.body.size());
  result.sizes.push_back(middle.body.size());
  result.last.body = replaced(last.body, row.var, result.behind);
  return result;
}

}  // namespace ingot::jit
