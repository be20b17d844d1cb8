#pragma once
#include <optional>

#include "runtime/tir/nest.h"

// Nests in an order that memory likes better. The meaning stays, but for the order of sums.
namespace ingot::jit {

// The store with `by` in place of `var`, in its value as well.
tir::NestStore with_index(const tir::NestStore& store, const SymVar& var, const PrimExpr& by);

// Sums over an axis that is not the innermost: instead of one result after the other, rows are added to a block of
// results that stays in the first cache, so that memory is read in long pieces. Where that leaves one block, it is cut
// for `threads`; the order of each sum does not depend on them.
void interchange_sums(tir::Nest& nest, int threads);

// Neighbours among the loops inside of others become one where the second reads what the first one writes, or both read
// the same: what lies between computing and adding up need not go through memory.
void join_loops(tir::Nest& nest);

// A copy whose elements lie one after the other along `row` in the source and along `column` in the target, cut into
// square tiles that registers transpose, and what is left of it at the borders.
struct TiledCopy {
  std::vector<const tir::NestLoop*> outer;  // around both
  const tir::NestLoop* row;
  const tir::NestLoop* column;
  const tir::NestStore* store;
  int64_t rows, columns;  // whole tiles alone
  std::vector<tir::NestStmt> borders;
};
std::optional<TiledCopy> as_tiled_copy(const tir::NestStmt& stmt, int64_t tile);

// Such a copy with extents that may be symbolic, and of any size; the borders are tiles as well.
struct ShapedCopy {
  std::vector<const tir::NestLoop*> outer;
  const tir::NestLoop* row;
  const tir::NestLoop* column;
  const tir::NestStore* store;
  PrimExpr from_step, to_step;  // elements between neighbours along `column` in the source, along `row` in the target
};
std::optional<ShapedCopy> as_shaped_copy(const tir::NestStmt& stmt);

}  // namespace ingot::jit
