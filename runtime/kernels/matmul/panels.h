#pragma once
#include <cstdint>

#include "runtime/jit/product_tile.h"

namespace ingot {

// Where a matrix in float32 lies; distances in elements from one row or column to the next.
struct PanelSource {
  const float* elements;
  int64_t row, column;
};

// Copies `rows` rows of `columns` columns, up to tiles.width(), to rows that are tiles.width() long; what lies behind
// the columns stays as it is.
void pack_panel(const jit::ProductTiles& tiles, const PanelSource& from, int64_t rows, int64_t columns, float* to);

}  // namespace ingot
