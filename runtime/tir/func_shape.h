#pragma once
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/tir/prim_func.h"

namespace ingot::tir {

struct NestBuffer {
  DType dtype;
  std::vector<int64_t> dims;
  size_t bytes = 0;
  bool zero_fill = false;            // written, but not provably whole
  std::vector<PrimExpr> shape = {};  // of shaped nests: the dimensions as expressions
};

using Values = std::unordered_map<const SymVarNode*, int64_t>;

// What dimensions of its parameters make of a PrimFunc.
struct FuncShape {
  Values values;  // of its dimensions, and of scalars as far as they are known
  // Of int64 scalars the value that the dimensions ask for, or that the caller promised.
  std::vector<std::optional<int64_t>> scalars;
  std::vector<NestBuffer> buffers;
};

// Throws ShapeMismatch where the dimensions do not fit the function. `scalars` is empty or has an entry for each
// scalar, of which those of int64 count.
FuncShape shape_of(const PrimFunc& func, std::span<const std::vector<int64_t>> dims, std::span<const int64_t> scalars);

// Must int64 scalars be known when code is made? Where the extent of a loop or the size of a buffer depends on one, and
// where there are sums, whose order, and so whose bits, may follow from how they are read.
bool needs_scalars(const PrimFunc& func);

Bindings lookup(const Values& values);

}  // namespace ingot::tir
