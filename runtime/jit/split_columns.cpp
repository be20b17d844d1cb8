#include "runtime/jit/split_columns.h"

#include <algorithm>
#include <optional>

#include "runtime/base/checked.h"
#include "runtime/jit/loop_choice.h"
#include "runtime/jit/reorder_loops.h"
#include "runtime/tir/vectorize.h"

namespace ingot::jit {
namespace {

using tir::BufferId;
using tir::ExprOp;
using tir::NestExpr;
using tir::NestExprRef;
using tir::NestLoop;
using tir::NestStmt;
using tir::NestStore;
using tir::Place;

// Where it runs over fewer columns there is not a register's worth of them.
constexpr int64_t kLeastColumns = 16;

// The one store of a loop that adds up.
const NestStore* sum_of(const NestStmt& stmt) {
  const auto* loop = std::get_if<NestLoop>(&stmt.node);
  if (loop == nullptr || loop->kind != tir::LoopKind::Reduce || !loop->owned.empty() || loop->body.size() != 1)
    return nullptr;
  const auto* store = std::get_if<NestStore>(&loop->body[0].node);
  return store != nullptr && tir::as_fold(*store) ? store : nullptr;
}

// Do neighbouring columns of what it reads lie beside each other, and its rows apart?
bool adds_rows(const NestLoop& sum, const SymVar& column) {
  bool fits = true, walks_rows = false;
  tir::for_each_place(sum.body, [&](const Place& place, bool) {
    if (!place.proved) {
      fits = false;
      return;
    }
    const auto parts = tir::linear_parts(place.indices[0]);
    const int64_t along = parts.coefficient_of(column), down = std::abs(parts.coefficient_of(sum.var));
    fits &= !parts.rest && (along == 1 || (along == 0 && down != 1));
    walks_rows |= along == 1 && down > 1;
  });
  return fits && walks_rows;
}

class Columns {
 public:
  Columns(tir::Nest& nest, uint8_t lanes) : nest_(nest), lanes_(lanes) {}

  // `owner`: what the loop around the statements has for each of its iterations; null where there is none.
  void walk(std::vector<NestStmt>& list, std::vector<BufferId>* owner) {
    std::vector<NestStmt> result;
    for (NestStmt& stmt : list) {
      auto* loop = std::get_if<NestLoop>(&stmt.node);
      auto parts = loop != nullptr ? split(*loop) : std::nullopt;
      if (!parts) {
        if (loop != nullptr) walk(loop->body, &loop->owned);
        result.push_back(std::move(stmt));
        continue;
      }
      for (const BufferId buffer : loop->owned)
        if (owner != nullptr && std::ranges::find(*owner, buffer) == owner->end()) owner->push_back(buffer);
      std::ranges::move(*parts, std::back_inserter(result));
    }
    list = std::move(result);
  }

 private:
  std::optional<std::vector<NestStmt>> split(const NestLoop& loop) {
    const auto extent = loop.extent.as_const();
    if (loop.kind == tir::LoopKind::Reduce || !extent || *extent < kLeastColumns) return std::nullopt;
    if (loop.body.size() <= 2 && loop.owned.empty()) return std::nullopt;
    if (choose_lanes(loop, lanes_)) return std::nullopt;
    bool has_sum = false;
    for (const NestStmt& stmt : loop.body) {
      if (std::holds_alternative<NestStore>(stmt.node)) continue;
      if (sum_of(stmt) == nullptr || !adds_rows(std::get<NestLoop>(stmt.node), loop.var)) return std::nullopt;
      has_sum = true;
    }
    if (!has_sum || !std::ranges::all_of(loop.owned, [&](BufferId buffer) { return is_number(loop, buffer); }))
      return std::nullopt;

    NestLoop whole = loop;
    whole.owned.clear();
    for (NestStmt& stmt : whole.body) stmt = for_columns(stmt, loop);
    if (loop.kind != tir::LoopKind::Parallel && !is_independent(whole)) return std::nullopt;
    for (const BufferId buffer : loop.owned) nest_.buffers[buffer].bytes *= static_cast<size_t>(*extent);

    std::vector<NestStmt> result;
    for (size_t at = 0; at < whole.body.size();) {
      const size_t count = starts_sum(whole.body, at) ? 2 : 1;
      NestLoop part{make_sym_var(loop.var->name), loop.extent, loop.kind, {}, {}};
      for (const size_t end = at + count; at < end; ++at)
        part.body.push_back(renamed(whole.body[at], loop.var, part.var));
      result.push_back({std::move(part)});
    }
    return result;
  }

  // Whether the temporary is one number, that for all columns can be held at once.
  bool is_number(const NestLoop& loop, BufferId id) const {
    const tir::NestBuffer& buffer = nest_.buffers[id];
    if (buffer.zero_fill || buffer.bytes != dtype_bytes(buffer.dtype)) return false;
    if (!checked_mul(buffer.bytes, static_cast<size_t>(*loop.extent.as_const()))) return false;
    bool result = true;
    tir::for_each_place(loop.body, [&](const Place& place, bool) {
      if (place.buffer == id) result &= place.proved && place.indices[0].is_const(0);
    });
    return result;
  }

  static Place for_columns(Place place, const NestLoop& loop) {
    if (std::ranges::find(loop.owned, place.buffer) != loop.owned.end()) place.indices = {PrimExpr(loop.var)};
    return place;
  }
  static NestExprRef for_columns(const NestExprRef& expr, const NestLoop& loop) {
    NestExpr made = *expr;
    if (made.op == ExprOp::Load) made.place = for_columns(std::move(made.place), loop);
    for (NestExprRef& operand : made.operands) operand = for_columns(operand, loop);
    return std::make_shared<const NestExpr>(std::move(made));
  }
  static NestStmt for_columns(const NestStmt& stmt, const NestLoop& loop) {
    if (const auto* store = std::get_if<NestStore>(&stmt.node))
      return {NestStore{for_columns(store->place, loop), for_columns(store->value, loop)}};
    NestLoop sum = std::get<NestLoop>(stmt.node);
    sum.body[0] = for_columns(sum.body[0], loop);
    return {std::move(sum)};
  }

  static bool starts_sum(const std::vector<NestStmt>& body, size_t at) {
    const auto* start = std::get_if<NestStore>(&body[at].node);
    const NestStore* sum = start != nullptr && at + 1 < body.size() ? sum_of(body[at + 1]) : nullptr;
    return sum != nullptr && sum->place.buffer == start->place.buffer;
  }

  static NestStmt renamed(const NestStmt& stmt, const SymVar& from, const SymVar& to) {
    if (const auto* store = std::get_if<NestStore>(&stmt.node)) return {with_index(*store, from, PrimExpr(to))};
    NestLoop sum = std::get<NestLoop>(stmt.node);
    sum.body[0] = renamed(sum.body[0], from, to);
    return {std::move(sum)};
  }

  tir::Nest& nest_;
  uint8_t lanes_;
};

}  // namespace

void split_columns(tir::Nest& nest, uint8_t lanes) { Columns(nest, lanes).walk(nest.body, nullptr); }

}  // namespace ingot::jit
