#pragma once
#include <optional>

#include "runtime/tir/vectorize.h"

namespace ingot::jit {

// Functions that cost a dozen instructions or more.
bool is_series(tir::ExprOp op);
bool has_series(const tir::NestExpr& expr);

// The least or greatest of floats, of which lanes hold two values in registers: NaN is looked for apart.
bool is_extreme(const tir::Fold& fold, DType dtype);

// How a loop is run many iterations at once.
struct LaneLoop {
  tir::VectorPlan plan;
  uint8_t lanes = 1;  // elements of a register
  unsigned jam = 1;   // registers of one step
};

// Should this loop have its iterations in lanes, rather than one inside of it or none? `lanes`: how many 4-byte
// elements a register has.
std::optional<LaneLoop> choose_lanes(const tir::NestLoop& loop, uint8_t lanes);

// Does the loop use the buffer only at its index?
bool is_row(const tir::NestLoop& loop, tir::BufferId buffer);

// Do registers' worth of iterations of `var` fill whole cache lines, one after the other, where the buffer is aligned?
bool fills_lines(const tir::Place& place, const SymVar& var, DType dtype);

// May iterations run in any order, several at a time?
bool is_independent(const tir::NestLoop& loop);

}  // namespace ingot::jit
