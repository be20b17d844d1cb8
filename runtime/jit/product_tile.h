#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/base/cpu.h"
#include "runtime/jit/code_memory.h"

namespace ingot::jit {

class PerfMap;

// One tile of a matrix product, float32: rows of c of up to `width()` columns. Distances are in bytes.
struct ProductTileArgs {
  const float* a;        // element (0, 0) of the tile's rows of a
  const float* b;        // element (0, 0) of the tile's columns of b; a row of these is contiguous
  float* c;              // contiguous along columns
  const float* initial;  // what the sums begin with, null: 0; may be c
  const float* bias;     // a row that is added at the end, or null
  int64_t depth;         // at least 1: columns of a, rows of b
  int64_t a_row, a_column, b_row, c_row, initial_row;
  float scale;            // of the sums, before the bias
  uint32_t last_columns;  // columns in the last register of a row, 1 to lanes()
};

// Machine code for c = scale * (initial + a b) + bias, for tiles of every size up to rows() by width(): the sizes of
// the product itself come with each call. An element of c is one chain of fused multiply-adds along the depth, so its
// bits depend neither on the tile it lies in nor on where the depth is cut (with `initial` = c and a scale of 1 in all
// parts but the last). Immutable, for any number of threads.
//
// The scheme is that of K. Goto and R. A. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008: sums
// in registers, a block of b in the second cache, one element of a at a time spread over a register.
class ProductTiles {
 public:
  ProductTiles() = default;
  // Null where the CPU is older than AVX2, or the system gives no executable memory. `perf_map`, where set, gets the
  // functions' names; throws Io where it cannot be written.
  static std::unique_ptr<const ProductTiles> make(Cpu cpu, const PerfMap* perf_map = nullptr);

  int64_t lanes() const { return lanes_; }  // of a register
  int64_t rows() const { return static_cast<int64_t>(kRows); }
  int64_t width() const { return lanes_ * vectors_; }
  Cpu cpu() const { return lanes_ == 16 ? Cpu::Avx512 : Cpu::Avx2; }

  // Blocks of this many rows and columns are transposed by transpose().
  static constexpr int64_t kBlock = 8;
  // to[i][j] = from[j][i] for kBlock values of j and kBlock * blocks of i, at least one. Distances in bytes from one
  // row to the next of each.
  void transpose(const float* from, int64_t from_row, float* to, int64_t to_row, int64_t blocks) const noexcept {
    using Entry = void (*)(const float*, int64_t, float*, int64_t, int64_t);
    code_->entry<Entry>(transpose_)(from, from_row, to, to_row, blocks);
  }

  // 1 to rows() rows of `columns` columns, 1 to width(). Sets args.last_columns.
  void run(ProductTileArgs& args, int64_t rows, int64_t columns) const noexcept {
    const int64_t vectors = (columns + lanes_ - 1) / lanes_;
    args.last_columns = static_cast<uint32_t>(columns - (vectors - 1) * lanes_);
    using Entry = void (*)(const ProductTileArgs*);
    code_->entry<Entry>(entries_[static_cast<size_t>(rows - 1)][static_cast<size_t>(vectors - 1)])(&args);
  }

 private:
  static constexpr size_t kRows = 6;
  static constexpr size_t kMostVectors = 4;

  std::unique_ptr<const CodeMemory> code_;
  int64_t lanes_ = 0, vectors_ = 0;
  size_t transpose_ = 0;
  size_t entries_[kRows][kMostVectors] = {};
};

}  // namespace ingot::jit
