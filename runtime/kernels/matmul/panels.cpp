#include "runtime/kernels/matmul/panels.h"

#include <cstring>

namespace ingot {

void pack_panel(const jit::ProductTiles& tiles, const PanelSource& from, int64_t rows, int64_t columns, float* to) {
  constexpr int64_t kBlock = jit::ProductTiles::kBlock;
  constexpr int64_t kBytes = sizeof(float);
  const int64_t width = tiles.width();
  int64_t done_rows = 0;
  int64_t done_columns = 0;
  if (from.row == 1 && rows >= kBlock) {
    done_rows = rows / kBlock * kBlock;
    for (; done_columns + kBlock <= columns; done_columns += kBlock)
      tiles.transpose(from.elements + done_columns * from.column, from.column * kBytes, to + done_columns,
                      width * kBytes, rows / kBlock);
  }
  for (int64_t row = 0; row < rows; ++row) {
    const float* elements = from.elements + row * from.row;
    float* out = to + row * width;
    const int64_t first = row < done_rows ? done_columns : 0;
    if (from.column == 1)
      std::memcpy(out + first, elements + first, static_cast<size_t>(columns - first) * sizeof(float));
    else
      for (int64_t column = first; column < columns; ++column) out[column] = elements[column * from.column];
  }
}

}  // namespace ingot
