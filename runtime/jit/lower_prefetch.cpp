#include <algorithm>

#include "runtime/jit/lowering.h"

namespace ingot::jit {

using tir::NestLoop;
using tir::NestStmt;
using tir::Place;

namespace {

constexpr size_t kSecondCache = size_t{1} << 21;

}  // namespace

// Where several loops work on one row, the first one would wait for the second cache: what it reads of the next row, at
// the index of the last one. Not for more than that cache holds: there, lines in flight count.
std::vector<Place> Lowering::next_row(const NestLoop& rows, const NestLoop& last) const {
  std::vector<Place> result;
  if (param_bytes() > kSecondCache) return result;
  for (const NestStmt& stmt : rows.body) {
    const auto* loop = std::get_if<NestLoop>(&stmt.node);
    if (loop == nullptr || loop == &last || tir::has_inner_loop(loop->body)) continue;
    if (!loop->extent.as_const() || loop->extent.as_const() != last.extent.as_const()) continue;
    tir::for_each_place(loop->body, [&](const Place& place, bool is_store) {
      if (is_store || !place.proved || place.buffer >= nest_.params) return;
      const auto parts = tir::linear_parts(place.indices[0]);
      if (parts.rest || parts.coefficient_of(loop->var) != 1 || parts.coefficient_of(rows.var) == 0) return;
      Place next = place;
      next.indices[0] = substitute(place.indices[0], [&](const SymVar& each) -> std::optional<PrimExpr> {
        if (each == rows.var) return PrimExpr(rows.var) + 1;
        return each == loop->var ? std::optional(PrimExpr(last.var)) : std::nullopt;
      });
      const auto same = [&](const Place& other) {
        return other.buffer == next.buffer && same_expr(other.indices[0], next.indices[0]);
      };
      if (std::ranges::none_of(result, same)) result.push_back(std::move(next));
    });
  }
  return result;
}

// Where a loop adds up what the last cache does not hold: what it will read soon. The machine's own prefetching pauses
// at the end of each page. To the second cache: what waits for the first one keeps loads from starting.
std::vector<Place> Lowering::further_on(const NestLoop& loop) const {
  constexpr size_t kLastCache = size_t{1} << 25, kOfResult = 8;
  constexpr int64_t kDistance = 1024;
  const auto count_places = [](const Statements& body, tir::BufferId buffer) {
    int count = 0;
    tir::for_each_place(body, [&](const Place& place, bool) { count += place.buffer == buffer ? 1 : 0; });
    return count;
  };
  std::vector<Place> result;
  size_t read = 0, written = 0;
  if (is_shaped()) return result;
  tir::for_each_place(loop.body, [&](const Place& place, bool is_store) {
    const tir::NestBuffer& buffer = nest_.buffers[place.buffer];
    if (is_store) written += buffer.bytes;
    if (is_store || !place.proved || place.buffer >= nest_.params) return;
    const auto parts = tir::linear_parts(place.indices[0]);
    if (parts.rest || parts.coefficient_of(loop.var) != 1) return;
    if (count_places(nest_.body, place.buffer) != count_places(loop.body, place.buffer)) return;
    read = std::max(read, buffer.bytes);
    Place next = place;
    next.indices[0] = next.indices[0] + kDistance / static_cast<int64_t>(dtype_bytes(buffer.dtype));
    result.push_back(std::move(next));
  });
  if (read < kLastCache || written > read / kOfResult) result.clear();
  return result;
}

// What the first loop of rolled rows will read behind the row that it reads. It shares its time with the others, so
// that the machine looks less far ahead than in a loop of its own.
std::vector<Place> Lowering::behind_next_row(const RolledRows& rows) const {
  constexpr int64_t kDistance = 8192;
  const auto begin = rows.all.body.begin() + static_cast<std::ptrdiff_t>(rows.sizes[0]);
  const Statements first(begin, begin + static_cast<std::ptrdiff_t>(rows.sizes[1]));
  std::vector<Place> result;
  tir::for_each_place(first, [&](const Place& place, bool is_store) {
    if (is_store || !place.proved || place.buffer >= nest_.params) return;
    const auto parts = tir::linear_parts(place.indices[0]);
    if (parts.rest || parts.coefficient_of(rows.all.var) != 1) return;
    if (rows.all.extent.as_const() != parts.coefficient_of(rows.next)) return;
    Place next = place;
    next.indices[0] =
        next.indices[0] + kDistance / static_cast<int64_t>(dtype_bytes(nest_.buffers[place.buffer].dtype));
    result.push_back(std::move(next));
  });
  return result;
}

void Lowering::prefetch(const std::vector<Place>& places, bool to_second_cache) {
  constexpr size_t kLine = 64;
  const uint8_t imm = to_second_cache ? 1 : 0;
  for (const Place& place : places)
    for (unit_ = 0; unit_ < jam_; ++unit_) {
      const DType dtype = nest_.buffers[place.buffer].dtype;
      if (size_t{unit_} * b_.lanes() * dtype_bytes(dtype) % kLine != 0) continue;
      const Position at = linear_position(place.buffer, tir::linear_parts(place.indices[0]));
      b_.fixed({.op = Op::Prefetch, .imm = imm, .dtype = dtype, .ref = b_.position(at)}, false);
    }
  unit_ = 0;
}

}  // namespace ingot::jit
