#include <algorithm>

#include "runtime/jit/lowering.h"

// Copies by square tiles that registers transpose.
namespace ingot::jit {

using tir::NestLoop;
using tir::Place;

namespace {

// Of the rows of the target: no more lines of it at once than the first cache holds.
constexpr int64_t kTile = 16, kMostColumns = 512;

}  // namespace

int64_t Lowering::run(const TiledCopy& copy, int64_t& extent) {
  std::vector<Loop*> opened;
  const auto open = [&](int64_t end, int64_t step) {
    Loop loop;
    loop.ranged = opened.empty();
    loop.extent = end;
    loop.step = step;
    loop.innermost = false;
    loop.slot = b_.new_slot(static_cast<uint16_t>(b_.level() + 1));
    if (opened.empty()) {
      extent = end;
      grain_ = step;
    }
    opened.push_back(&b_.open_loop(std::move(loop)));
    return opened.back()->slot;
  };
  for (const NestLoop* loop : copy.outer) slots_[loop->var.get()] = open(*loop->extent.as_const(), 1);
  int64_t block = std::min(copy.columns, kMostColumns);
  while (copy.columns % block != 0) block -= kTile;
  const Slot blocks = open(copy.columns, block);
  slots_[copy.row->var.get()] = open(copy.rows, kTile);
  slots_[copy.column->var.get()] = open(block, kTile);

  const Place& from = copy.store->value->place;
  const auto position = [&](const Place& place, const NestLoop& across) {
    const tir::LinearParts& parts = linear(place.indices[0]);
    Position result = linear_position(place.buffer, parts);
    result.parts.push_back({blocks, parts.coefficient_of(copy.column->var)});
    result.lane_stride = parts.coefficient_of(across.var);
    return b_.position(std::move(result));
  };
  Instr tile{.op = Op::Tile, .dtype = copy.store->value->dtype};
  tile.ref = position(from, *copy.column);
  tile.index = position(copy.store->place, *copy.row);
  const Position& target = function_.positions[tile.index];
  tile.stream = stream_.contains(target.buffer) && target.base % 16 == 0 && target.lane_stride % 16 == 0;
  for (const auto& part : target.parts)
    tile.stream &= part.coefficient % 16 == 0 || part.slot == blocks || part.slot == slots_.at(copy.column->var.get());
  streams_ |= tile.stream;
  b_.fixed(tile, false);
  for (size_t i = opened.size(); i-- > 0;) b_.close_loop(*opened[i]);
  return grain_;
}

int64_t Lowering::run(const ShapedCopy& copy, PrimExpr& extent) {
  std::vector<Loop*> opened;
  const auto open = [&](const SymVar& var, const PrimExpr& end, int64_t step) {
    Loop loop;
    loop.innermost = false;
    loop.step = step;
    loop.ranged = opened.empty();
    if (loop.ranged) {
      extent = end;
      grain_ = step;
    } else if (const auto known = end.as_const()) {
      loop.extent = *known;
    } else {
      loop.has_extent_slot = true;
      loop.extent_slot = eval_slot(end);
    }
    facts_.below(var, end);
    loop.slot = b_.new_slot(static_cast<uint16_t>(b_.level() + 1));
    slots_[var.get()] = loop.slot;
    opened.push_back(&b_.open_loop(std::move(loop)));
  };
  for (const NestLoop* loop : copy.outer) open(loop->var, loop->extent, 1);
  const PrimExpr rows = copy.row->extent, columns = copy.column->extent;
  const SymVar block = make_sym_var("block"), inside = make_sym_var("inside");
  const auto known = columns.as_const();
  PrimExpr first = 0;
  if (!known || *known > kMostColumns) {
    open(block, floor_div(columns + (kMostColumns - 1), kMostColumns), 1);
    first = PrimExpr(block) * kMostColumns;
  }
  open(copy.row->var, rows, kTile);
  open(inside, min(columns - first, kMostColumns), kTile);

  const auto position = [&](const Place& place) {
    const PrimExpr at = substitute(place.indices[0], [&](const SymVar& var) -> std::optional<PrimExpr> {
      return var == copy.column->var ? std::optional(first + inside) : std::nullopt;
    });
    return b_.position({place.buffer, 0, 0, {{eval_slot(at), 1}}});
  };
  Instr tile{.op = Op::Tile, .dtype = copy.store->value->dtype};
  tile.ref = position(copy.store->value->place);
  tile.index = position(copy.store->place);
  function_.tiles.push_back({.from_step = eval_slot(copy.from_step),
                             .to_step = eval_slot(copy.to_step),
                             .rows = eval_slot(min(rows - copy.row->var, kTile)),
                             .columns = eval_slot(min(columns - first - inside, kTile))});
  tile.imm = static_cast<uint8_t>(function_.tiles.size());
  b_.fixed(tile, false);
  for (size_t i = opened.size(); i-- > 0;) b_.close_loop(*opened[i]);
  return grain_;
}

}  // namespace ingot::jit
