#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"

namespace ingot::onnx_import {

using Dims = std::vector<PrimExpr>;

// So many inputs, outputs and elements of a literal sequence fit into the registers of one function.
constexpr size_t kMaxValues = 65'000;

// An expression of the graph under construction and what is known of its value.
struct Typed {
  ir::Expr expr;
  StructInfo info;
  // The elements of an integer tensor of rank 0 or 1, where they are known: numbers, or expressions of dimensions. A
  // chain of Shape, Gather, Concat and Reshape is computed with them, and costs nothing at run time.
  std::optional<Dims> values = {};
  // What each element of a sequence is, also of one in an optional; null where it is none, or nothing is known.
  StructInfo element = {};
  // What the tensor in an optional is; null for everything else.
  StructInfo content = {};
  // ONNX's number of the type where it only stores numbers (float8, int4): the dtype is the one they are computed in.
  int32_t stored = 0;
  // Elements as in `values`, of rank 2 and more, row-major.
  std::optional<Dims> elements = {};
  // The elements of a tensor of rank 1, each where it is known; empty where nothing is.
  std::vector<std::optional<PrimExpr>> partly = {};

  // The elements, where the value is a constant; null otherwise.
  const TensorObject* constant() const;
  bool is_tensor() const { return info->kind == InfoKind::Tensor; }
  DType dtype() const { return info->dtype; }
  // TypeError where it is no tensor, or one whose rank is not known.
  const Dims& dims() const;
  size_t rank() const { return dims().size(); }
  const PrimExpr& dim(size_t i) const { return dims().at(i); }
};

// A tensor of which only the rank is known.
inline StructInfo of_rank(DType dtype, size_t rank) { return tensor_info(dtype, static_cast<uint32_t>(rank)); }
// The known elements of an integer or bool tensor of rank 0 or 1 with at most 4096 elements.
std::optional<Dims> known_values(const Typed& x);
// The same as numbers.
std::optional<std::vector<int64_t>> known_integers(const Typed& x);
// The elements of an integer tensor of rank 1, each where it is known; empty where nothing is.
std::vector<std::optional<PrimExpr>> partly_known_values(const Typed& x);
// The number in a constant of one element.
std::optional<double> known_number(const Typed& x);

// What is true of both: dimensions only where they are proved equal, no rank where ranks differ.
StructInfo common_info(const StructInfo& a, const StructInfo& b);
// Is everything that `b` says said by `a`, so that a variable of info `a` may take `b`?
bool covers(const StructInfo& a, const StructInfo& b);

}  // namespace ingot::onnx_import
