#include "runtime/jit/rows_in_outputs.h"

#include <algorithm>
#include <optional>

#include "runtime/jit/loop_choice.h"
#include "runtime/symbolic/simplify.h"
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

// The row's place in the output, for index `var` of the row.
struct Row {
  BufferId output;
  SymVar var;
  PrimExpr position;
  int64_t extent;

  Place at(const SymVar& index) const {
    Place place;
    place.buffer = output;
    place.proved = true;
    place.indices.push_back(substitute(
        position, [&](const SymVar& each) { return each == var ? std::optional(PrimExpr(index)) : std::nullopt; }));
    return place;
  }
};

int count_places(const std::vector<NestStmt>& body, BufferId buffer) {
  int count = 0;
  tir::for_each_place(body, [&](const Place& place, bool) { count += place.buffer == buffer ? 1 : 0; });
  return count;
}

NestExprRef in_row(const NestExprRef& expr, BufferId temporary, const Place& place) {
  NestExpr made = *expr;
  if (made.op == ExprOp::Load && made.place.buffer == temporary) made.place = place;
  for (NestExprRef& operand : made.operands) operand = in_row(operand, temporary, place);
  return std::make_shared<const NestExpr>(std::move(made));
}

class Rows {
 public:
  Rows(tir::Nest& nest, std::unordered_set<BufferId>& large, size_t past_from)
      : nest_(nest), large_(large), past_from_(past_from) {}

  void walk(std::vector<NestStmt>& list) {
    for (NestStmt& stmt : list) {
      auto* loop = std::get_if<NestLoop>(&stmt.node);
      if (loop == nullptr) continue;
      walk(loop->body);
      for (const BufferId temporary : loop->owned)
        if (const auto row = row_of(*loop, temporary)) {
          if (goes_past(*row)) {
            large_.insert(row->output);
          } else {
            move_to(*row, *loop, temporary);
          }
        }
    }
  }

 private:
  // One store to an output, in the last loop that uses the temporary, at the index at which it reads it.
  std::optional<Row> row_of(const NestLoop& loop, BufferId temporary) const {
    const NestLoop *first = nullptr, *last = nullptr;
    for (const NestStmt& stmt : loop.body) {
      const auto* part = std::get_if<NestLoop>(&stmt.node);
      const int uses = count_places({stmt}, temporary);
      if (uses == 0) continue;
      if (part == nullptr || !is_plain(*part, temporary)) return std::nullopt;
      if (first == nullptr) first = part;
      last = part;
    }
    if (first == last || !computes_whole(*first, temporary)) return std::nullopt;
    for (const NestStmt& stmt : last->body) {
      const auto& store = std::get<NestStore>(stmt.node);
      if (store.place.buffer == temporary) return std::nullopt;
      const Row row{store.place.buffer, last->var, store.place.indices[0], *last->extent.as_const()};
      if (fits(row, store.place, temporary) && covers(loop, temporary, row) && reads_in_time(loop, *first, row))
        return row;
    }
    return std::nullopt;
  }

  bool goes_past(const Row& row) const {
    const tir::NestBuffer& output = nest_.buffers[row.output];
    return output.bytes >= past_from_ && fills_lines(row.at(row.var), row.var, output.dtype);
  }

  // Stores alone, and the temporary at the loop's index.
  static bool is_plain(const NestLoop& loop, BufferId temporary) {
    if (!loop.extent.as_const() || !loop.owned.empty()) return false;
    if (!std::ranges::all_of(loop.body,
                             [](const NestStmt& stmt) { return std::holds_alternative<NestStore>(stmt.node); }))
      return false;
    return is_row(loop, temporary);
  }

  // Before it reads any of it, and with work behind which memory hides.
  bool computes_whole(const NestLoop& loop, BufferId temporary) const {
    const tir::NestBuffer& buffer = nest_.buffers[temporary];
    const auto store =
        std::ranges::find_if(loop.body, [&](const NestStmt& stmt) { return count_places({stmt}, temporary) != 0; });
    const auto& [place, value] = std::get<NestStore>(store->node);
    return place.buffer == temporary && count_places({*store}, temporary) == 1 && has_series(*value) &&
           static_cast<size_t>(*loop.extent.as_const()) * dtype_bytes(buffer.dtype) == buffer.bytes;
  }

  bool fits(const Row& row, const Place& place, BufferId temporary) const {
    const tir::NestBuffer& output = nest_.buffers[row.output];
    if (row.output >= nest_.params || output.dtype != nest_.buffers[temporary].dtype || large_.contains(row.output))
      return false;
    const auto parts = tir::linear_parts(row.position);
    return place.proved && !place.guarded && !parts.rest && parts.coefficient_of(row.var) == 1 &&
           count_places(nest_.body, row.output) == 1;
  }

  static bool covers(const NestLoop& loop, BufferId temporary, const Row& row) {
    return std::ranges::all_of(loop.body, [&](const NestStmt& stmt) {
      const auto* part = std::get_if<NestLoop>(&stmt.node);
      return part == nullptr || count_places({stmt}, temporary) == 0 || *part->extent.as_const() <= row.extent;
    });
  }

  // The output may lie on an input of its size: none is read behind the first store, nor beside it elsewhere.
  bool reads_in_time(const NestLoop& loop, const NestLoop& first, const Row& row) const {
    bool behind = false, in_time = true;
    for (const NestStmt& stmt : loop.body) {
      const bool beside = std::get_if<NestLoop>(&stmt.node) == &first;
      if (beside || behind)
        tir::for_each_place({stmt}, [&](const Place& place, bool) {
          const bool may_be_output =
              place.buffer < nest_.params && place.buffer != row.output &&
              (!nest_.vars.empty() || nest_.buffers[place.buffer].bytes == nest_.buffers[row.output].bytes);
          const bool same =
              beside && place.proved && prove_equal(place.indices[0], row.at(first.var).indices[0]) == Proof::Yes;
          in_time &= !may_be_output || same;
        });
      behind |= beside;
    }
    return in_time;
  }

  void move_to(const Row& row, NestLoop& loop, BufferId temporary) {
    for (NestStmt& stmt : loop.body) {
      if (count_places({stmt}, temporary) == 0) continue;
      auto& part = std::get<NestLoop>(stmt.node);
      const Place place = row.at(part.var);
      for (NestStmt& each : part.body) {
        auto& store = std::get<NestStore>(each.node);
        store.value = in_row(store.value, temporary, place);
        if (store.place.buffer == temporary) store.place = place;
      }
    }
    nest_.buffers[temporary].bytes = 0;
    nest_.buffers[temporary].zero_fill = false;
  }

  tir::Nest& nest_;
  std::unordered_set<BufferId>& large_;
  size_t past_from_;
};

}  // namespace

void keep_rows_in_outputs(tir::Nest& nest, std::unordered_set<BufferId>& large, size_t past_from) {
  Rows(nest, large, past_from).walk(nest.body);
}

}  // namespace ingot::jit
